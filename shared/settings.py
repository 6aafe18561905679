"""Settings that several services share. Each is an environment variable `ACHILLES_<NAME>`."""

import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from shared.secret_files import SecretFileError, with_secret_files

ENV_PREFIX = "ACHILLES_"


def _seconds(value: object) -> object:
    """Operators write `30` or `PT30S`; both are thirty seconds."""
    if isinstance(value, str) and value.replace(".", "", 1).isdigit():
        return float(value)
    return value


Duration = Annotated[timedelta, BeforeValidator(_seconds)]


class _Environment(EnvSettingsSource):
    def _load_env_vars(self) -> Mapping[str, str | None]:
        return with_secret_files(super()._load_env_vars())


class AchillesSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, frozen=True, extra="ignore", hide_input_in_errors=True)

    log_level: str = Field(default="INFO", title="Least level that is logged")
    metrics_token: SecretStr = Field(
        default=SecretStr(""), title="Bearer token for /metrics; without one, whoever reaches the port may read it"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Raises SecretFileError when a file that the environment names cannot be used."""
        return init_settings, _Environment(settings_cls)


Settings = TypeVar("Settings", bound=AchillesSettings)


def settings_or_exit(settings_class: type[Settings]) -> Settings:
    """The settings of a process. What is wrong with them is one line each on standard error, and exit status 2."""
    try:
        return settings_class()
    except SecretFileError as fault:
        sys.stderr.write(f"{fault}\n")
    except ValidationError as fault:
        for error in fault.errors(include_url=False, include_input=False):
            sys.stderr.write(f"{_variable(error['loc'])}: {error['msg']}\n")
    raise SystemExit(2)


def _variable(place: tuple[int | str, ...]) -> str:
    name = ".".join(str(part) for part in place).upper()
    return name if name.startswith(ENV_PREFIX) or not name else f"{ENV_PREFIX}{name}"


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
    nats_replicas: int = Field(
        default=1, ge=1, le=5, title="Servers that keep each stream that is created; 3 where NATS has three nodes"
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
