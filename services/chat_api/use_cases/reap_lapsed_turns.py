"""Close what has lapsed: turns whose front died, as interrupted and empty, and logins."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.storage.sessions import forget_expired
from services.chat_api.storage.turns import FinishedMessage, finish_turn, lapsed_turns
from shared.database.driver import driver_connection

logger = logging.getLogger(__name__)
_AT_ONCE = 100


class ReapLapsedTurns:
    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._now = now

    async def execute(self) -> int:
        """Returns how many turns were closed."""
        now = self._now()
        async with self._engine.begin() as connection:
            lapsed = await lapsed_turns(connection, now, limit=_AT_ONCE)
            await forget_expired(connection)
        async with driver_connection(self._engine) as driver:
            closed = 0
            for turn in lapsed:
                empty = FinishedMessage(
                    message_id=turn.message_id,
                    conversation_id=turn.conversation_id,
                    content="",
                    outcome="interrupted",
                    model=None,
                    tokens_used=0,
                    citations=(),
                    hint=None,
                    notices=(),
                    finished_at=now,
                )
                closed += await finish_turn(driver, empty)
        if closed:
            logger.warning("lapsed_turns_closed", extra={"count": closed})
        return closed

    async def run(self, every: timedelta) -> None:
        """Reap until cancelled; a database that is away only means a later look."""
        while True:
            try:
                await self.execute()
            except Exception as fault:  # noqa: BLE001 (the next look finds them again)
                logger.warning("reaper_fault", extra={"error": type(fault).__name__})
            await asyncio.sleep(every.total_seconds())
