"""The ledger: an event's row is written with the thing it speaks of and deleted with its effect."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.mesh import outbox
from shared.events import Event
from shared.messaging.envelope import body_of, headers_of

OUTBOX_CHANNEL = "achilles_outbox"


@dataclass(frozen=True, slots=True)
class ClaimedEvent:
    """A row that this relay sends now. Nobody else sends it before its next attempt is due."""

    event_id: UUID
    subject: str
    stream: str
    payload: bytes
    headers: dict[str, str]
    epoch: int


OutboxRow = dict[str, object]


def make_row(event: Event, *, source: str) -> OutboxRow:
    """The event as it will be sent. Building is apart from writing, so that a caller can fence it."""
    return {
        "event_id": event.event_id,
        "subject": event.subject,
        "stream": event.stream,
        "payload": body_of(event),
        "headers": headers_of(event, source=source),
    }


async def insert_rows(connection: AsyncConnection, rows: Sequence[OutboxRow]) -> None:
    """Write the rows into the caller's own transaction. An event that already waits is left as it is."""
    if rows:
        await connection.execute(insert(outbox).values(list(rows)).on_conflict_do_nothing(index_elements=["event_id"]))


async def enqueue(connection: AsyncConnection, events: Sequence[Event], *, source: str) -> None:
    await insert_rows(connection, [make_row(event, source=source) for event in events])


async def claim(
    connection: AsyncConnection, *, limit: int, retry_after: timedelta, retry_at_most: timedelta
) -> list[ClaimedEvent]:
    """Take rows that are due and push their next attempt forward, so that a relay that dies blocks nothing."""
    due = (
        select(outbox.c.event_id)
        .where(outbox.c.next_attempt_at <= func.now())
        .order_by(outbox.c.next_attempt_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("due")
    )
    seconds = func.least(
        retry_after.total_seconds() * func.power(2, func.least(outbox.c.epoch, 16)), retry_at_most.total_seconds()
    )
    statement = (
        update(outbox)
        .where(outbox.c.event_id.in_(select(due.c.event_id)))
        .values(epoch=outbox.c.epoch + 1, next_attempt_at=func.now() + func.make_interval(0, 0, 0, 0, 0, 0, seconds))
        .returning(
            outbox.c.event_id, outbox.c.subject, outbox.c.stream, outbox.c.payload, outbox.c.headers, outbox.c.epoch
        )
    )
    return [ClaimedEvent(*row) for row in await connection.execute(statement)]


async def postpone(connection: AsyncConnection, event_ids: Sequence[UUID], *, delay: timedelta) -> None:
    """Make rows that could not be sent due again soon."""
    await connection.execute(
        update(outbox).where(outbox.c.event_id.in_(event_ids)).values(next_attempt_at=func.now() + delay)
    )


async def settle(connection: AsyncConnection, event_ids: Sequence[UUID]) -> None:
    """Delete rows whose effect, or dead letter, is written in this same transaction."""
    if event_ids:
        await connection.execute(delete(outbox).where(outbox.c.event_id.in_(event_ids)))


async def settle_dead(connection: AsyncConnection, event_id: UUID, payload: bytes) -> None:
    """Delete the row of a dead letter. Its id is only what a sender claims, so the payload must be the same as well."""
    await connection.execute(delete(outbox).where(outbox.c.event_id == event_id, outbox.c.payload == payload))
