"""Does a server answer, with its password? Each check raises ProbeFailedError or PasswordRefusedError.

No text of an error holds a secret.
"""

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from shared.embedded.errors import PasswordRefusedError, ProbeFailedError

if TYPE_CHECKING:
    import asyncpg

# The client libraries are imported where they are used: together they would cost every command a second.

_TIMEOUT_SECONDS = 3.0
_WORDS = (
    (ConnectionRefusedError, "connection refused"),
    (socket.gaierror, "unknown host"),
    (TimeoutError, "no answer"),
    (ConnectionError, "connection lost"),
)


def plain_postgres_url(url: str) -> str:
    """Without the driver that SQLAlchemy wants in the scheme."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(scheme="postgresql"))


async def connect_postgres(url: str) -> "asyncpg.Connection":
    """Raises ProbeFailedError or PasswordRefusedError."""
    import asyncpg

    try:
        return await asyncpg.connect(plain_postgres_url(url), timeout=_TIMEOUT_SECONDS)
    except asyncpg.InvalidAuthorizationSpecificationError:
        raise PasswordRefusedError("PostgreSQL refuses the user or the password") from None
    except asyncpg.PostgresError as fault:
        raise ProbeFailedError(f"PostgreSQL: {type(fault).__name__}") from None
    except (OSError, TimeoutError, asyncpg.InterfaceError) as fault:
        raise ProbeFailedError(f"PostgreSQL: {_reason(fault)}") from None


async def check_postgres(url: str) -> None:
    """A query succeeds."""
    import asyncpg

    connection = await connect_postgres(url)
    try:
        await connection.fetchval("SELECT 1", timeout=_TIMEOUT_SECONDS)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as fault:
        raise ProbeFailedError(f"PostgreSQL: {_reason(fault)}") from None
    finally:
        with suppress(Exception):
            await connection.close(timeout=_TIMEOUT_SECONDS)


async def check_nats(url: str) -> None:
    """The server lets us in, and JetStream answers."""
    import nats
    from nats.errors import Error as NatsError

    faults: list[Exception] = []

    async def keep(fault: Exception) -> None:
        faults.append(fault)

    try:
        client = await nats.connect(url, allow_reconnect=False, reconnect_time_wait=0, connect_timeout=2, error_cb=keep)
    except (OSError, TimeoutError, NatsError) as fault:
        if any("authorization violation" in str(f).lower() for f in (fault, *faults)):
            raise PasswordRefusedError("NATS refuses the user or the password") from None
        raise ProbeFailedError(f"NATS: {_reason(fault, *faults)}") from None
    try:
        await client.jetstream(timeout=2).account_info()
    except (OSError, TimeoutError, NatsError) as fault:
        raise ProbeFailedError(f"NATS answers, JetStream does not: {_reason(fault)}") from None
    finally:
        with suppress(Exception):
            await client.close()


async def check_valkey(url: str) -> None:
    """PING is answered."""
    import redis.asyncio
    from redis.exceptions import AuthenticationError, RedisError

    client = redis.asyncio.from_url(url, socket_connect_timeout=2, socket_timeout=2, retry=None)
    try:
        await client.ping()
    except AuthenticationError:
        raise PasswordRefusedError("Valkey refuses the password") from None
    except (OSError, TimeoutError, RedisError) as fault:
        raise ProbeFailedError(f"Valkey: {_reason(fault)}") from None
    finally:
        with suppress(Exception):
            await client.aclose()


def _reason(*faults: BaseException) -> str:
    """The texts of libraries can echo a URL with its password: only known kinds are put into words."""
    causes = [cause for fault in faults for cause in _causes(fault)]
    for kind, words in _WORDS:
        if any(isinstance(cause, kind) for cause in causes):
            return words
    return type(faults[0]).__name__


def _causes(fault: BaseException | None) -> Iterator[BaseException]:
    while fault is not None:
        yield fault
        fault = fault.__cause__ or fault.__context__
