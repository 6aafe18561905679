"""The store's consumer cannot write to our database: its status tells which canary came through, and we note it."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.adapters.knowledge_client import KnowledgeClient
from shared.events import SignalCanary
from shared.knowledge_contract import STORE_CONSUMER
from shared.messaging.canary import canary_effect

logger = logging.getLogger(__name__)
_note = canary_effect(STORE_CONSUMER)


@dataclass(frozen=True, slots=True)
class NoteStoreCanary:
    engine: AsyncEngine
    client: KnowledgeClient

    async def run(self, every: timedelta) -> None:
        """Until cancelled. A store that cannot be asked has its canary grow stale, which is the truth."""
        while True:
            try:
                await self.execute()
            except Exception as fault:  # noqa: BLE001 (asked again; health shows what is missing)
                logger.warning("store_canary_unknown", extra={"error": type(fault).__name__})
            await asyncio.sleep(every.total_seconds())

    async def execute(self) -> None:
        """Raises KnowledgeUnavailableError, or an error of the database."""
        status = await self.client.status()
        if status.canary_at is not None:
            async with self.engine.begin() as connection:
                await _note(connection, [SignalCanary(occurred_at=status.canary_at)])
