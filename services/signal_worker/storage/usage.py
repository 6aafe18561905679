"""Usage of model calls, one row a call."""

from collections.abc import Sequence
from operator import attrgetter

from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.bulk_insert import insert_new
from shared.database.tables.usage import usage
from shared.events import UsageRecorded

_COLUMNS = ("event_id", *UsageRecorded.model_fields)
_row_of = attrgetter(*_COLUMNS)


async def apply_usage(connection: AsyncConnection, events: Sequence[UsageRecorded]) -> None:
    await insert_new(connection, usage, _COLUMNS, map(_row_of, events), key="event_id")
