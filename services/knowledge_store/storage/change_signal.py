"""Wakes a waiting task when the store changes, from whichever process; polling covers what LISTEN misses."""

import asyncio
import contextlib

import asyncpg

from services.knowledge_store.storage.tables import CHANGED_CHANNEL
from shared.database.engine import plain_dsn

_CONNECT_SECONDS = 5.0


class DatabaseChangeSignal:
    """Holds one connection of its own, opened when first needed and opened anew when it was lost."""

    def __init__(self, database_url: str) -> None:
        self._dsn = plain_dsn(database_url)
        self._connection: asyncpg.Connection | None = None
        self._changed = asyncio.Event()

    async def wait(self, timeout: float) -> None:  # noqa: ASYNC109
        """Return when the store has changed since the last call, or after `timeout` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._listen(timeout)
                await self._changed.wait()
        self._changed.clear()

    async def close(self) -> None:
        if self._connection is not None and not self._connection.is_closed():
            with contextlib.suppress(Exception):
                await self._connection.close(timeout=1)

    async def _listen(self, pause: float) -> None:
        if self._connection is not None and not self._connection.is_closed():
            return
        try:
            self._connection = await asyncpg.connect(self._dsn, timeout=_CONNECT_SECONDS)
            await self._connection.add_listener(CHANGED_CHANNEL, lambda *_: self._changed.set())
        except (OSError, asyncpg.PostgresError):
            await asyncio.sleep(pause)
