"""The single row of state: the store's id, its version, and what was announced."""

from sqlalchemy import exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.knowledge_store.domain.records import StoreState
from services.knowledge_store.storage.tables import CHANGED_CHANNEL, chunk, store_state


class StateStore:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def load(self) -> StoreState:
        row = (
            await self._connection.execute(
                select(
                    store_state.c.store_id,
                    store_state.c.knowledge_version,
                    (~exists(select(chunk.c.chunk_id))).label("is_empty"),
                    store_state.c.announced_version,
                    store_state.c.announced_empty,
                )
            )
        ).one()
        return StoreState(
            store_id=str(row.store_id),
            knowledge_version=row.knowledge_version,
            is_empty=row.is_empty,
            announced_version=row.announced_version,
            announced_empty=row.announced_empty,
        )

    async def advance_version(self) -> None:
        """Part of the transaction of every change of content or rights; listeners wake when it commits."""
        await self._connection.execute(
            update(store_state).values(knowledge_version=store_state.c.knowledge_version + 1)
        )
        await self._connection.execute(select(func.pg_notify(CHANGED_CHANNEL, "")))

    async def mark_announced(self, *, knowledge_version: int, is_empty: bool) -> None:
        """Remember what the bus acknowledged; a newer announcement is never overwritten by an older one."""
        await self._connection.execute(
            update(store_state)
            .where(func.coalesce(store_state.c.announced_version, -1) < knowledge_version)
            .values(announced_version=knowledge_version, announced_empty=is_empty)
        )
