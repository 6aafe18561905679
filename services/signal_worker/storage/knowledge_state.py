"""Whether each store is empty: set if the version is greater, never toggled."""

from collections.abc import Sequence

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.signals import knowledge_state
from shared.events import KnowledgeChanged


async def apply_knowledge_changes(connection: AsyncConnection, events: Sequence[KnowledgeChanged]) -> None:
    newest: dict[str, KnowledgeChanged] = {}
    for event in sorted(events, key=lambda change: change.knowledge_version):
        newest[event.store_id] = event
    for store_id in sorted(newest):
        statement = insert(knowledge_state).values(newest[store_id].model_dump())
        await connection.execute(
            statement.on_conflict_do_update(
                index_elements=["store_id"],
                set_={
                    "knowledge_version": statement.excluded.knowledge_version,
                    "is_empty": statement.excluded.is_empty,
                    "occurred_at": statement.excluded.occurred_at,
                },
                where=knowledge_state.c.knowledge_version < statement.excluded.knowledge_version,
            )
        )
