"""Accesses for a Knowledge Store that missed some on the bus."""

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.storage.access_signals import list_access_signals
from services.chat_api.storage.keyset import Page, PageRequest
from shared.access_signals_contract import AccessSignal


class ReadAccessSignals:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list(self, page: PageRequest) -> Page[AccessSignal]:
        """Raises BadCursorError."""
        async with self._engine.connect() as connection:
            return await list_access_signals(connection, page)
