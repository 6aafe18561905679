"""Access signals: each is inserted once, and counters move only by rows that were really inserted."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.signals import access_counters, accesses
from shared.events import SourceAccessed


async def apply_accesses(connection: AsyncConnection, events: Sequence[SourceAccessed]) -> None:
    rows = [{"event_id": event.event_id, **event.model_dump()} for event in events]
    inserted = await connection.execute(
        insert(accesses)
        .values(rows)
        .on_conflict_do_nothing(index_elements=["event_id"])
        .returning(accesses.c.record_id, accesses.c.kind, accesses.c.occurred_at)
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
