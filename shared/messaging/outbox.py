"""The ledger: an event's row is written with the thing it speaks of and deleted with its effect."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, func, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.driver import Driver
from shared.database.tables.mesh import outbox
from shared.events import Event
from shared.messaging.envelope import body_of, headers_of

OUTBOX_CHANNEL = "achilles_outbox"
_CLAIM = """
    WITH due AS (
        SELECT event_id FROM mesh.outbox WHERE next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE mesh.outbox AS waiting
    SET epoch = waiting.epoch + 1,
        next_attempt_at = now() + make_interval(secs => least($2 * power(2, least(waiting.epoch, 16)), $3))
    FROM due WHERE waiting.event_id = due.event_id
    RETURNING waiting.event_id, subject, stream, payload, headers, epoch
"""
_SETTLE = "DELETE FROM mesh.outbox WHERE event_id = ANY($1::uuid[]) RETURNING event_id"


@dataclass(frozen=True, slots=True)
class ClaimedEvent:
    """A row that this relay sends now. Nobody else sends it before its next attempt is due."""

    event_id: UUID
    subject: str
    stream: str
    payload: bytes
    headers: dict[str, str]
    epoch: int


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """An event as it will be sent."""

    event_id: UUID
    subject: str
    stream: str
    payload: bytes
    headers: dict[str, str]


def make_row(event: Event, *, source: str) -> OutboxRow:
    """The event as it will be sent. Building is apart from writing, so that a caller can fence it."""
    return OutboxRow(event.event_id, event.subject, event.stream, body_of(event), headers_of(event, source=source))


def columns_of(rows: Sequence[OutboxRow]) -> tuple[list[object], ...]:
    """The rows as `unnest` takes them: ids, subjects, streams, payloads and headers as JSON text."""
    return (
        [row.event_id for row in rows],
        [row.subject for row in rows],
        [row.stream for row in rows],
        [row.payload for row in rows],
        [json.dumps(row.headers) for row in rows],
    )


async def insert_rows(connection: AsyncConnection, rows: Sequence[OutboxRow]) -> None:
    """Write the rows into the caller's own transaction. An event that already waits is left as it is."""
    if rows:
        values = [asdict(row) for row in rows]
        await connection.execute(insert(outbox).values(values).on_conflict_do_nothing(index_elements=["event_id"]))


async def enqueue(connection: AsyncConnection, events: Sequence[Event], *, source: str) -> None:
    await insert_rows(connection, [make_row(event, source=source) for event in events])


async def claim(
    connection: Driver, *, limit: int, retry_after: timedelta, retry_at_most: timedelta
) -> list[ClaimedEvent]:
    """Take rows that are due and push their next attempt forward, so that a relay that dies blocks nothing."""
    rows = await connection.fetch(_CLAIM, limit, retry_after.total_seconds(), retry_at_most.total_seconds())
    return [ClaimedEvent(*row) for row in rows]


async def postpone(connection: AsyncConnection, event_ids: Sequence[UUID], *, delay: timedelta) -> None:
    """Make rows that could not be sent due again soon."""
    await connection.execute(
        update(outbox).where(outbox.c.event_id.in_(event_ids)).values(next_attempt_at=func.now() + delay)
    )


async def settle(connection: AsyncConnection, event_ids: Sequence[UUID]) -> frozenset[UUID]:
    """Delete rows whose effect, or dead letter, is written in this same transaction. Returns those that were there."""
    if not event_ids:
        return frozenset()
    return frozenset((await connection.exec_driver_sql(_SETTLE, (list(event_ids),))).scalars())


async def settle_dead(connection: AsyncConnection, event_id: UUID, payload: bytes) -> None:
    """Delete the row of a dead letter. Its id is only what a sender claims, so the payload must be the same as well."""
    await connection.execute(delete(outbox).where(outbox.c.event_id == event_id, outbox.c.payload == payload))
