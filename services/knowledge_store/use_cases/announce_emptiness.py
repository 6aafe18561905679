"""Tell the bus when the store became empty or stopped being empty, whichever process changed it."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.domain.records import StoreState
from services.knowledge_store.storage.state_store import StateStore
from shared.database.listener import WakeSignal
from shared.events.knowledge import KnowledgeChanged

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0


class Announcer(Protocol):
    """Returns once the bus has acknowledged the event; raises if it did not."""

    async def announce(self, event: KnowledgeChanged) -> None: ...


class AnnouncementService:
    """Compares the state with what the bus last acknowledged, so that no flip is lost to a crash or an outage."""

    def __init__(self, engine: AsyncEngine, announcer: Announcer, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._announcer = announcer
        self._now = now

    async def announce_if_changed(self) -> bool:
        """Whether something had to be announced. Raises if the database or the bus does not answer."""
        async with self._engine.connect() as connection:
            state = await StateStore(connection).load()
        if state.announced_empty == state.is_empty:
            return False
        await self._announcer.announce(_event(state, self._now()))
        async with self._engine.begin() as connection:
            await StateStore(connection).mark_announced(
                knowledge_version=state.knowledge_version, is_empty=state.is_empty
            )
        return True

    async def run(self, changes: WakeSignal) -> None:
        """Until cancelled. An outage is logged once and tried again every second."""
        failing = False
        while True:
            try:
                await self.announce_if_changed()
                failing = False
            except Exception as error:  # noqa: BLE001 (the loop outlives whatever bus or database raise)
                if not failing:
                    logger.warning("announcement_waits", extra={"error": type(error).__name__})
                failing = True
                await asyncio.sleep(POLL_SECONDS)
            await changes.wait(POLL_SECONDS)


def _event(state: StoreState, now: datetime) -> KnowledgeChanged:
    return KnowledgeChanged(
        occurred_at=now,
        store_id=state.store_id,
        knowledge_version=state.knowledge_version,
        is_empty=state.is_empty,
    )
