"""Settings of the embedded Knowledge Store, each an environment variable."""

from datetime import timedelta
from typing import Annotated

from pydantic import AliasChoices, Field, SecretStr

from services.knowledge_store.domain.trust import TrustRule
from shared.settings import AchillesSettings, Duration


class IngestSettings(AchillesSettings):
    """What an ingest needs, in whatever process it runs."""

    database_url: SecretStr = Field(
        validation_alias=AliasChoices("ACHILLES_KNOWLEDGE_DATABASE_URL", "ACHILLES_DATABASE_URL", "database_url"),
        title="PostgreSQL with pgvector: postgresql://user:password@host:port/name",
    )
    source_url_prefix: str = Field(
        default="/sources/",
        pattern=r"^(https?://|/)",
        title="Where the links of the hits lead: this, then the record id",
    )

    @property
    def dsn(self) -> str:
        return self.database_url.get_secret_value()


class KnowledgeStoreSettings(IngestSettings):
    knowledge_token: SecretStr = Field(min_length=1, title="The service token that every caller has to show")
    knowledge_host: str = Field(default="127.0.0.1", title="Address to listen on")
    knowledge_port: int = Field(default=8010, ge=0, le=65_535, title="Port to listen on")
    nats_url: SecretStr | None = Field(
        default=None, title="NATS; without it nothing is announced, and trust rests on the front's list alone"
    )
    nats_replicas: int = Field(
        default=1, ge=1, le=5, title="Servers that keep each stream that is created; 3 where NATS has three nodes"
    )
    front_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        title="The front, for access signals that the bus did not bring; its ALLOWED_HOSTS must know this name",
    )
    catch_up_every: Duration = Field(
        default=timedelta(minutes=5), title="How often the front is asked for access signals that were missed"
    )
    trust_half_life: Annotated[Duration, Field(gt=timedelta(0))] = Field(
        default=timedelta(days=90), title="An access counts half after this long"
    )
    trust_cited_weight: float = Field(default=1.0, ge=0, title="What a citation in an answer adds to the trust")
    trust_clicked_weight: float = Field(default=3.0, ge=0, title="What opening a source adds to it")
    trust_in_ranking: bool = Field(default=True, title="Whether trust decides between hits that are nearly equal")

    @property
    def trust_rule(self) -> TrustRule:
        return TrustRule(self.trust_half_life, self.trust_cited_weight, self.trust_clicked_weight)
