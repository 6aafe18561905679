"""Stop one's own running turn, on whichever front it runs."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.turns import find_turn, request_stop, stops_requested
from services.chat_api.use_cases.errors import NotFoundError
from services.chat_api.use_cases.running_turns import RunningTurns

STOP_CHANNEL = "achilles_stop"
logger = logging.getLogger(__name__)


class StopTurn:
    """The request is kept with the turn. A notification makes it quick, and looking for it makes it certain."""

    def __init__(self, engine: AsyncEngine, running: RunningTurns, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._running = running
        self._now = now

    async def execute(self, caller: Caller, message_id: UUID) -> None:
        """Returns when the request is on its way; a turn that has ended stays as it is. Raises NotFoundError."""
        async with self._engine.begin() as connection:
            turn = await find_turn(connection, message_id, caller.owner_id)
            if turn is None:
                raise NotFoundError
            if not turn.running:
                return
            # Also for a turn of this front: an answer that its owner stopped is no broken one.
            await request_stop(connection, message_id, self._now())
            if message_id not in self._running.ids:
                await connection.execute(
                    text("SELECT pg_notify(:channel, :id)"), {"channel": STOP_CHANNEL, "id": str(message_id)}
                )
        self._running.stop(message_id)

    def on_notification(self, payload: str) -> None:
        """Another front was asked to stop a turn that may run here."""
        try:
            self._running.stop(UUID(payload))
        except ValueError:
            logger.warning("stop_notification_unreadable")

    async def watch(self, every: timedelta) -> None:
        """Look for requests whose notification was lost, until cancelled."""
        while True:
            await asyncio.sleep(every.total_seconds())
            try:
                await self._stop_requested()
            except Exception as fault:  # noqa: BLE001 (the next look finds them again)
                logger.warning("stop_watch_fault", extra={"error": type(fault).__name__})

    async def _stop_requested(self) -> None:
        running = self._running.ids
        if not running:
            return
        async with self._engine.connect() as connection:
            for message_id in await stops_requested(connection, running):
                self._running.stop(message_id)
