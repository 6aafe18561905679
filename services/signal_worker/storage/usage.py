"""Usage of model calls: one row a call, and the day's sums from the rows that were really inserted."""

from collections.abc import Sequence
from operator import attrgetter

from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.bulk_insert import arrays_of, insert_statement
from shared.database.tables.usage import usage
from shared.events import UsageRecorded
from shared.usage.rollups import LOCK_FOR_ADDING, add_to_sums, sums_of

_COLUMNS = ("event_id", *UsageRecorded.model_fields)
_ADD = f"""
    WITH inserted AS ({insert_statement(usage, _COLUMNS, "event_id", returning=("*",))})
    {add_to_sums(sums_of("inserted"))}"""
_row_of = attrgetter(*_COLUMNS)


async def apply_usage(connection: AsyncConnection, events: Sequence[UsageRecorded]) -> None:
    await connection.exec_driver_sql(LOCK_FOR_ADDING)
    await connection.exec_driver_sql(_ADD, arrays_of(_COLUMNS, map(_row_of, events), "event_id"))
