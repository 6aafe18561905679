"""Access signals: each is inserted once, and counters move only by rows that were really inserted."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter

from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.bulk_insert import insert_new
from shared.database.tables.signals import accesses
from shared.events import SourceAccessed

_COLUMNS = ("event_id", *SourceAccessed.model_fields)
_COUNTED = ("record_id", "kind", "occurred_at")
_COUNT = """
    INSERT INTO signals.access_counters AS counter (record_id, kind, total, last_at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[])
    ON CONFLICT (record_id, kind) DO UPDATE
    SET total = counter.total + excluded.total, last_at = greatest(counter.last_at, excluded.last_at)
"""
_row_of = attrgetter(*_COLUMNS)


async def apply_accesses(connection: AsyncConnection, events: Sequence[SourceAccessed]) -> None:
    inserted = await insert_new(
        connection, accesses, _COLUMNS, map(_row_of, events), key="event_id", returning=_COUNTED
    )
    await _count(connection, [(row.record_id, row.kind, row.occurred_at) for row in inserted])


async def _count(connection: AsyncConnection, inserted: Sequence[tuple[str, str, datetime]]) -> None:
    if not inserted:
        return
    totals = Counter((record_id, kind) for record_id, kind, _ in inserted)
    last = {(record_id, kind): at for record_id, kind, at in sorted(inserted, key=lambda row: row[2])}
    # Sorted, so that two workers lock counters in the same order.
    keys = sorted(totals)
    columns = (
        [record_id for record_id, _ in keys],
        [kind for _, kind in keys],
        [totals[key] for key in keys],
        [last[key] for key in keys],
    )
    await connection.exec_driver_sql(_COUNT, columns)
