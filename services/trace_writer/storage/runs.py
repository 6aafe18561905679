"""Model runs, one row a provider call."""

from collections.abc import Sequence
from operator import attrgetter

from sqlalchemy.ext.asyncio import AsyncConnection

from services.trace_writer.storage.live_conversations import live_conversations
from shared.database.bulk_insert import insert_new
from shared.database.tables.traces import runs
from shared.events import ModelRunTraced

_COLUMNS = ("event_id", *ModelRunTraced.model_fields)
_row_of = attrgetter(*_COLUMNS)


async def apply_runs(connection: AsyncConnection, events: Sequence[ModelRunTraced]) -> None:
    live = await live_conversations(connection, (event.conversation_id for event in events))
    rows = [_row_of(event) for event in events if event.conversation_id in live]
    await insert_new(connection, runs, _COLUMNS, rows, key="event_id")
