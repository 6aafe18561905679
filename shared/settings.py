"""Settings that several services share. Each is an environment variable `ACHILLES_<NAME>`."""

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


def _seconds(value: object) -> object:
    """Operators write `30` or `PT30S`; both are thirty seconds."""
    if isinstance(value, str) and value.replace(".", "", 1).isdigit():
        return float(value)
    return value


Duration = Annotated[timedelta, BeforeValidator(_seconds)]


class AchillesSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="ACHILLES_", frozen=True, extra="ignore", hide_input_in_errors=True)

    log_level: str = Field(default="INFO", title="Least level that is logged")
    metrics_token: SecretStr = Field(
        default=SecretStr(""), title="Bearer token for /metrics; without one, whoever reaches the port may read it"
    )


class DatabaseSettings(AchillesSettings):
    database_url: SecretStr = Field(title="PostgreSQL, the product's truth: postgresql://user:password@host:port/name")

    @property
    def dsn(self) -> str:
        return self.database_url.get_secret_value()


class BusSettings(AchillesSettings):
    nats_url: SecretStr = Field(title="NATS with JetStream: nats://user:password@host:port")
    nats_provision: bool = Field(
        default=True, title="Create streams that are missing; false where this user of the bus may not"
    )

    @property
    def bus_url(self) -> str:
        return self.nats_url.get_secret_value()


class WorkerSettings(DatabaseSettings, BusSettings):
    host: str = Field(default="127.0.0.1", title="Address of the health endpoints")
    batch_size: int = Field(default=250, ge=1, le=1000, title="Messages written in one transaction at most")
    fetch_wait: Duration = Field(default=timedelta(seconds=5), title="A fetch that finds nothing ends after this long")
    ack_wait: Duration = Field(
        default=timedelta(seconds=60), title="The broker sends a message again after this long without acknowledgement"
    )
    max_deliver: int = Field(default=10, ge=2, title="Deliveries of one message before it becomes a dead letter")
    consumer_check_every: Duration = Field(
        default=timedelta(seconds=5), title="How often a worker looks whether its consumer still exists"
    )
