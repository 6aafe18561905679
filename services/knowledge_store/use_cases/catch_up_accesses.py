"""Ask the front for accesses that the bus did not bring: a wiped stream, or a store that was away for too long."""

import asyncio
import logging
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.domain.errors import BookmarkLostError
from services.knowledge_store.domain.trust import Access
from services.knowledge_store.storage.trust_store import TrustStore
from services.knowledge_store.use_cases.count_accesses import AccessCounter
from shared.access_signals_contract import AccessSignal, AccessSignalList

logger = logging.getLogger(__name__)

# The list is ordered by when a transaction began, and one that began earlier may end later: so the last minutes are
# read again the next time. What was counted is not counted again.
READ_AGAIN = timedelta(minutes=10)


class AccessSignals(Protocol):
    """The front's list. Raises `BookmarkLostError`, or anything else if the front does not answer."""

    async def read_after(self, event_id: UUID | None) -> AccessSignalList: ...


class CatchUpService:
    def __init__(self, engine: AsyncEngine, counter: AccessCounter, signals: AccessSignals) -> None:
        self._engine = engine
        self._counter = counter
        self._signals = signals

    async def catch_up(self) -> int:
        """Read the list from the bookmark to its end; how many accesses were new."""
        async with self._engine.connect() as connection:
            bookmark = await TrustStore(connection).bookmark()
        try:
            return await self._read_on(bookmark)
        except BookmarkLostError:
            logger.warning("access_bookmark_lost")
            return await self._read_on(None)

    async def _read_on(self, cursor: UUID | None) -> int:
        counted = 0
        recent: list[AccessSignal] = []
        while True:
            page = await self._signals.read_after(cursor)
            counted += await self._counter.count([_access(signal) for signal in page.data])
            recent = await self._move_bookmark([*recent, *page.data])
            cursor = page.last_id or cursor
            if not page.has_more:
                return counted

    async def _move_bookmark(self, recent: list[AccessSignal]) -> list[AccessSignal]:
        """To the newest signal that is old enough; returns those after it."""
        if not recent:
            return recent
        settled = [one for one in recent if one.applied_at <= recent[-1].applied_at - READ_AGAIN]
        if settled:
            async with self._engine.begin() as connection:
                await TrustStore(connection).set_bookmark(settled[-1].id)
        return recent[len(settled) :]

    async def run(self, every: timedelta) -> None:
        """At once and then every so often, until cancelled. A front that is away is logged once."""
        failing = False
        while True:
            try:
                counted = await self.catch_up()
                failing = False
                if counted:
                    logger.info("accesses_caught_up", extra={"count": counted})
            except Exception as error:  # noqa: BLE001 (the loop outlives whatever front or database raise)
                if not failing:
                    logger.warning("catching_up_waits", extra={"error": type(error).__name__})
                failing = True
            await asyncio.sleep(every.total_seconds())


def _access(signal: AccessSignal) -> Access:
    return Access(signal.id, signal.record_id, signal.kind, signal.occurred_at)
