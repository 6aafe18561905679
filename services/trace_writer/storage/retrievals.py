"""Retrieval traces, one a message."""

from collections.abc import Sequence

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.trace_writer.storage.live_conversations import live_conversations
from shared.database.tables.traces import retrievals
from shared.events import RetrievalTraced


async def apply_retrievals(connection: AsyncConnection, events: Sequence[RetrievalTraced]) -> None:
    live = await live_conversations(connection, (event.conversation_id for event in events))
    rows = [_row_of(event) for event in events if event.conversation_id in live]
    if rows:
        await connection.execute(insert(retrievals).values(rows).on_conflict_do_nothing(index_elements=["event_id"]))


def _row_of(event: RetrievalTraced) -> dict[str, object]:
    plain = event.model_dump(mode="json")
    typed = event.model_dump(include={"message_id", "conversation_id", "occurred_at"})
    return {"event_id": event.event_id, **plain, **typed}
