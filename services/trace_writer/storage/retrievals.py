"""Retrieval traces, one a message."""

from collections.abc import Sequence
from operator import attrgetter

from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection

from services.trace_writer.storage.live_conversations import live_conversations
from shared.database.bulk_insert import insert_new
from shared.database.tables.traces import retrievals
from shared.events import RetrievalTraced

_JSON = ("candidates", "packed", "cited", "rejected", "notes", "timings_ms")
_PLAIN = ("event_id", *(name for name in RetrievalTraced.model_fields if name not in _JSON))
_plain_of, _lists_of = attrgetter(*_PLAIN), attrgetter(*_JSON)


async def apply_retrievals(connection: AsyncConnection, events: Sequence[RetrievalTraced]) -> None:
    live = await live_conversations(connection, (event.conversation_id for event in events))
    rows = [_row_of(event) for event in events if event.conversation_id in live]
    await insert_new(connection, retrievals, (*_PLAIN, *_JSON), rows, key="event_id")


def _row_of(event: RetrievalTraced) -> tuple[object, ...]:
    return (*_plain_of(event), *(to_json(value).decode() for value in _lists_of(event)))
