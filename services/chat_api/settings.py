"""Settings of the front."""

from datetime import timedelta
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from services.chat_api.domain.grounding.release import JudgeScope
from services.chat_api.domain.model_call import EMBEDDED_MODEL
from services.chat_api.identity_settings import IdentitySettings
from shared.messaging.loop_health import HealthPolicy
from shared.settings import BusSettings, DatabaseSettings, Duration


class ChatApiSettings(DatabaseSettings, BusSettings, IdentitySettings):
    port: int = Field(default=8000, ge=0, le=65_535, title="Port of the front")
    redis_url: SecretStr = Field(title="Redis or Valkey, for the candidate cache: redis://:password@host:port")
    knowledge_url: str = Field(title="Base URL of the Knowledge Store")
    knowledge_token: SecretStr = Field(default=SecretStr(""), title="Service token for the Knowledge Store")
    knowledge_timeout: Duration = Field(default=timedelta(seconds=10), title="Longest wait for a search")
    knowledge_status_timeout: Duration = Field(default=timedelta(seconds=1), title="Longest wait for a store's version")
    knowledge_fresh_for: Duration = Field(
        default=timedelta(seconds=2), title="A store's version learned longer ago than this is read again"
    )

    model_base_url: str = Field(
        default="", title="OpenAI-compatible endpoint, up to and with /v1; without one the embedded answerer quotes"
    )
    model_api_key: SecretStr = Field(default=SecretStr(""), title="Key for that endpoint")
    model: str = Field(default="", title="Default model; required with an endpoint")
    models: str = Field(default="", title="Further allowed models, separated by commas")
    price_provider: str = Field(
        default="",
        title="Whose list prices hold where the endpoint's address does not tell, such as openai or litellm",
        description="Without it the cost of such an endpoint is unknown, unless an administrator sets a price.",
    )
    model_connect_timeout: Duration = Field(default=timedelta(seconds=5), title="Longest wait for a connection")
    model_silence_timeout: Duration = Field(default=timedelta(seconds=60), title="Longest silence within a stream")
    model_window: int = Field(default=16_384, ge=4_096, title="Tokens that the model can see at once")
    answer_reserve: int = Field(default=1_024, ge=128, title="Tokens kept free for the answer")
    platform_prompt: str = Field(
        default="", title="Replaces the platform prompt in the code, until an administrator activates another"
    )
    settings_watch_every: Duration = Field(
        default=timedelta(seconds=2), title="How often a front looks for changed settings whose notification was lost"
    )

    web_search_url: str = Field(
        default="",
        title="SearXNG-compatible search engine, up to but without /search; the tool must also be switched on",
        description="Only the query that the model writes is sent there. Nothing but its result list is fetched.",
    )
    web_search_timeout: Duration = Field(default=timedelta(seconds=6), title="Longest wait for a web search")
    web_search_top_k: int = Field(default=5, ge=1, le=20, title="Web results that are used at most")

    judge_base_url: str = Field(
        default="", title="OpenAI-compatible endpoint of a judge of single sentences; without one nothing is judged"
    )
    judge_api_key: SecretStr = Field(default=SecretStr(""), title="Key for that endpoint")
    judge_model: str = Field(default="", title="Model of the judge; required with its endpoint")
    judge_timeout: Duration = Field(
        default=timedelta(seconds=5), gt=timedelta(0), title="Longest wait for a ruling; then the sentence is dropped"
    )
    judge_scope: JudgeScope = Field(
        default="other_language", title="What is judged: sentences in another language than their passages, or all"
    )

    top_k: int = Field(default=8, ge=1, le=50, title="Passages asked from the Knowledge Store and packed at most")
    turns_per_minute: int = Field(default=60, ge=0, title="Questions that one person may ask a minute; 0 is no limit")
    concurrent_streams: int = Field(default=10, ge=0, title="Answers written for one person at once; 0 is no limit")
    turn_deadline: Duration = Field(default=timedelta(seconds=120), title="A turn is ended after this long")
    finalise_deadline: Duration = Field(default=timedelta(seconds=10), title="Longest wait for storing an answer")
    reap_every: Duration = Field(default=timedelta(seconds=5), title="How often turns of a dead front are closed")
    stop_watch_every: Duration = Field(
        default=timedelta(seconds=2), title="How often a front looks for stop requests whose notification was lost"
    )
    cache_expire_after: Duration = Field(default=timedelta(minutes=10), title="A cached search result expires")
    cache_pause_after_fault: Duration = Field(
        default=timedelta(seconds=5), title="The cache is left alone for this long after a fault"
    )
    allowed_hosts: str = Field(
        default="127.0.0.1,localhost,[::1]",
        title="Host names under which the page is served, separated by commas",
        description="A page elsewhere could give its own name the address of this computer and sign in as anybody.",
    )
    keep_alive_every: Duration = Field(
        default=timedelta(seconds=15), title="In silence a stream sends a comment this often, so that it is not cut"
    )
    openai_source_links: bool = Field(
        default=False, title="Append sources to answers under /v1 as Markdown links, for clients without annotations"
    )
    body_limit: int = Field(default=1_048_576, ge=1_024, title="Largest request body in bytes")
    outbox_retry_after: Duration = Field(
        default=timedelta(seconds=30), title="An event without an effect is sent again after this long"
    )
    outbox_retry_at_most: Duration = Field(
        default=timedelta(minutes=10), title="Each pause until it is sent again is twice the last, up to this long"
    )
    canary_every: Duration = Field(
        default=timedelta(seconds=30), title="How often a test event is sent through every worker; 0 sends none"
    )

    @model_validator(mode="after")
    def _web_search_is_an_address(self) -> Self:
        parts = urlsplit(self.web_search_url)
        if self.web_search_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("ACHILLES_WEB_SEARCH_URL must be an address like https://search.example.")
        return self

    @model_validator(mode="after")
    def _endpoint_has_a_model(self) -> Self:
        if self.model_base_url and not self.model:
            raise ValueError("ACHILLES_MODEL_BASE_URL is set, so ACHILLES_MODEL must name a model of that endpoint.")
        return self

    @model_validator(mode="after")
    def _judge_has_a_model(self) -> Self:
        if self.judge_base_url and not self.judge_model:
            raise ValueError(
                "ACHILLES_JUDGE_BASE_URL is set, so ACHILLES_JUDGE_MODEL must name a model of that endpoint."
            )
        return self

    @property
    def default_model(self) -> str:
        return self.model if self.model_base_url else EMBEDDED_MODEL

    @property
    def health_policy(self) -> HealthPolicy:
        every = self.canary_every or timedelta(seconds=30)
        return HealthPolicy(canary_every=every, canary_stale_after=every * 3)

    @property
    def host_names(self) -> frozenset[str]:
        names = (*self.allowed_hosts.split(","), self.public_host)
        return frozenset(name.strip().lower() for name in names if name.strip())

    @property
    def allowed_models(self) -> tuple[str, ...]:
        """The default model first, each once."""
        further = (name.strip() for name in self.models.split(","))
        return tuple(dict.fromkeys((self.default_model, *(name for name in further if name))))
