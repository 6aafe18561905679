"""Configured servers are checked before anything is built on them."""

from collections.abc import Awaitable, Callable

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.errors import FailedError
from shared.embedded.errors import PasswordRefusedError, ProbeFailedError
from shared.embedded.probes import check_nats, check_postgres, check_valkey


async def require_configured_servers(configuration: Configuration) -> None:
    """Raises FailedError that names the variable of the first server that does not answer."""
    checks: tuple[tuple[str, str | None, Callable[[str], Awaitable[None]]], ...] = (
        ("ACHILLES_DATABASE_URL", configuration.database_url, check_postgres),
        ("ACHILLES_KNOWLEDGE_DATABASE_URL", configuration.knowledge_database_url, check_postgres),
        ("ACHILLES_NATS_URL", configuration.nats_url, check_nats),
        ("ACHILLES_REDIS_URL", configuration.redis_url, check_valkey),
    )
    for variable, url, check in checks:
        if url is None:
            continue
        try:
            await check(url)
        except (ProbeFailedError, PasswordRefusedError) as fault:
            raise FailedError(f"{variable}: {fault}") from None
