"""Model runs, one row a provider call."""

from collections.abc import Sequence

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.trace_writer.storage.live_conversations import live_conversations
from shared.database.tables.traces import runs
from shared.events import ModelRunTraced


async def apply_runs(connection: AsyncConnection, events: Sequence[ModelRunTraced]) -> None:
    live = await live_conversations(connection, (event.conversation_id for event in events))
    rows = [{"event_id": event.event_id, **event.model_dump()} for event in events if event.conversation_id in live]
    if rows:
        await connection.execute(insert(runs).values(rows).on_conflict_do_nothing(index_elements=["event_id"]))
