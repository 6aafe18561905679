"""LISTEN on a connection of its own, opened anew whenever it is lost."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

import asyncpg

from shared.database.engine import plain_dsn

logger = logging.getLogger(__name__)
_REOPEN_SECONDS = 1.0


class NotificationListener:
    """Calls `on_notification(payload)` for each notification. What came while it was away is lost: poll as well."""

    def __init__(self, database_url: str, channel: str, on_notification: Callable[[str], None]) -> None:
        self._dsn = plain_dsn(database_url)
        self._channel = channel
        self._on_notification = on_notification

    async def run(self) -> None:
        while True:
            try:
                await self._hold()
            except Exception as fault:  # noqa: BLE001 (opened anew; until then callers poll)
                logger.warning("listener_lost", extra={"channel": self._channel, "error": type(fault).__name__})
            await asyncio.sleep(_REOPEN_SECONDS)

    async def _hold(self) -> None:
        settings = {"application_name": f"achilles-listen-{self._channel}"}
        connection = await asyncpg.connect(self._dsn, timeout=5, server_settings=settings)
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _connection: lost.set())
        try:
            await connection.add_listener(self._channel, lambda *told: self._on_notification(str(told[3])))
            await lost.wait()
        finally:
            await connection.close(timeout=2)


class WakeSignal:
    """Wakes a task that waits, on a notification or after its time: what the listener missed is found by looking."""

    def __init__(self, database_url: str, channel: str) -> None:
        self._wake = asyncio.Event()
        self._listener = NotificationListener(database_url, channel, lambda _payload: self._wake.set())

    async def run(self) -> None:
        """Listen until cancelled."""
        await self._listener.run()

    async def wait(self, seconds: float) -> None:
        """Returns when something was notified since the last call, or after `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()
