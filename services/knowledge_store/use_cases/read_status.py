"""Status: the id, the version and whether there is anything at all."""

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.storage.state_store import StateStore
from services.knowledge_store.storage.trust_store import TrustStore
from shared.knowledge_contract import StoreStatus


class StatusService:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def read(self) -> StoreStatus:
        async with self._engine.connect() as connection:
            state = await StateStore(connection).load()
            canary_at = await TrustStore(connection).canary_at()
        return StoreStatus(
            store_id=state.store_id,
            is_empty=state.is_empty,
            knowledge_version=state.knowledge_version,
            canary_at=canary_at,
        )
