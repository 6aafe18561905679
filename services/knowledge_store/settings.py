"""Settings of the embedded Knowledge Store, each an environment variable."""

from pydantic import AliasChoices, Field, SecretStr

from shared.settings import AchillesSettings


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
    nats_url: SecretStr | None = Field(default=None, title="NATS; without it nothing is announced")
