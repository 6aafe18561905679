"""Access signals: each is inserted once, and counters move only by rows that were really inserted."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.bulk_insert import insert_new
from shared.database.tables.signals import access_counters, accesses
from shared.events import SourceAccessed

_COLUMNS = ("event_id", *SourceAccessed.model_fields)
_COUNTED = ("record_id", "kind", "occurred_at")
_row_of = attrgetter(*_COLUMNS)


async def apply_accesses(connection: AsyncConnection, events: Sequence[SourceAccessed]) -> None:
    inserted = await insert_new(
        connection, accesses, _COLUMNS, map(_row_of, events), key="event_id", returning=_COUNTED
    )
    await _count(connection, [(record_id, kind, at) for record_id, kind, at in inserted])


async def _count(connection: AsyncConnection, inserted: Sequence[tuple[str, str, datetime]]) -> None:
    if not inserted:
        return
    totals = Counter((record_id, kind) for record_id, kind, _ in inserted)
    last = {(record_id, kind): at for record_id, kind, at in sorted(inserted, key=lambda row: row[2])}
    # Sorted, so that two workers lock counters in the same order.
    rows = [{"record_id": key[0], "kind": key[1], "total": totals[key], "last_at": last[key]} for key in sorted(totals)]
    statement = insert(access_counters).values(rows)
    await connection.execute(
        statement.on_conflict_do_update(
            index_elements=["record_id", "kind"],
            set_={
                "total": access_counters.c.total + statement.excluded.total,
                "last_at": func.greatest(access_counters.c.last_at, statement.excluded.last_at),
            },
        )
    )
