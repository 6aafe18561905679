"""Servers named in the environment instead of the embedded ones."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.achilles_cli.errors import UsageError
from shared.secret_files import SecretFileError, with_secret_files

DEFAULT_PORT = 8000
_LOOPBACK_NAMES = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class Configuration:
    """`None` means embedded. URLs hold passwords, so they stay out of every text.

    `knowledge_database_url` is for a Knowledge Store with a database of its own.
    """

    database_url: str | None = field(default=None, repr=False)
    knowledge_database_url: str | None = field(default=None, repr=False)
    nats_url: str | None = field(default=None, repr=False)
    redis_url: str | None = field(default=None, repr=False)
    knowledge_url: str | None = None
    knowledge_token: str | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] = os.environ) -> "Configuration":
        """Raises UsageError for a port that is no number and a file that cannot be read. Empty counts as not set."""
        try:
            environment = with_secret_files(variables)
        except SecretFileError as fault:
            raise UsageError(str(fault)) from None
        return cls(
            database_url=environment.get("ACHILLES_DATABASE_URL") or None,
            knowledge_database_url=environment.get("ACHILLES_KNOWLEDGE_DATABASE_URL") or None,
            nats_url=environment.get("ACHILLES_NATS_URL") or None,
            redis_url=environment.get("ACHILLES_REDIS_URL") or None,
            knowledge_url=environment.get("ACHILLES_KNOWLEDGE_URL") or None,
            knowledge_token=environment.get("ACHILLES_KNOWLEDGE_TOKEN") or None,
            host=environment.get("ACHILLES_HOST") or "127.0.0.1",
            port=_port(environment.get("ACHILLES_PORT") or str(DEFAULT_PORT)),
        )

    def require_loopback(self) -> None:
        """Raises UsageError: `achilles up` lets anybody log in as a demo user."""
        if self.host not in _LOOPBACK_NAMES:
            raise UsageError(
                f"ACHILLES_HOST={self.host}: `achilles up` has a demo login and binds to loopback only; "
                "unset ACHILLES_HOST, and for other addresses deploy the services with your own login"
            )


def _port(text: str) -> int:
    if text.isdigit() and 0 < int(text) < 65_536:
        return int(text)
    raise UsageError(f"ACHILLES_PORT={text} is not a port (1 to 65535)")
