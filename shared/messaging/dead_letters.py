"""Events that could not be applied: looked at, sent once more after the fault is mended, or given up for good."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from nats.js.api import Header
from sqlalchemy import Row, Select, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from shared.database.tables.mesh import dead_letters, outbox
from shared.events.streams import stream_of
from shared.messaging.envelope import CE_ID

_NATS_HEADERS = "nats-"


@dataclass(frozen=True, slots=True)
class StoredDeadLetter:
    """`event_id` is what the sender claimed. `payload` is the event itself, as it was sent."""

    id: UUID
    consumer: str
    event_id: str
    subject: str
    reason_class: str
    deliveries: int
    first_seen_at: datetime
    last_seen_at: datetime
    payload: bytes = field(repr=False)
    headers: dict[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """`refused` names letters that were left where they are, with the reason for an operator."""

    replayed: tuple[UUID, ...]
    missing: tuple[UUID, ...]
    refused: tuple[tuple[UUID, str], ...]


class DeadLetters:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def count(self) -> int:
        async with self._engine.connect() as connection:
            return (await connection.execute(select(func.count()).select_from(dead_letters))).scalar_one()

    async def newest(self, limit: int) -> list[StoredDeadLetter]:
        """Those last seen, newest first."""
        statement = select_letters().order_by(dead_letters.c.last_seen_at.desc(), dead_letters.c.id.desc()).limit(limit)
        async with self._engine.connect() as connection:
            return [stored_letter(row) for row in await connection.execute(statement)]

    async def find(self, letter_id: UUID) -> StoredDeadLetter | None:
        async with self._engine.connect() as connection:
            row = (await connection.execute(select_letters().where(dead_letters.c.id == letter_id))).one_or_none()
        return stored_letter(row) if row else None

    async def replay(self, letter_ids: Sequence[UUID]) -> ReplayReport:
        """Back into the ledger, which sends them again; a letter leaves here in the same transaction."""
        replayed: list[UUID] = []
        refused: list[tuple[UUID, str]] = []
        async with self._engine.begin() as connection:
            letters = [stored_letter(row) for row in await connection.execute(_locked(letter_ids))]
            for letter in letters:
                reason = await _send_again(connection, letter)
                if reason:
                    refused.append((letter.id, reason))
                else:
                    replayed.append(letter.id)
            await connection.execute(delete(dead_letters).where(dead_letters.c.id.in_(replayed)))
        found = {letter.id for letter in letters}
        return ReplayReport(tuple(replayed), tuple(one for one in letter_ids if one not in found), tuple(refused))

    async def discard(self, letter_ids: Sequence[UUID]) -> tuple[UUID, ...]:
        """Give them up for good. Returns the ids that were there."""
        statement = delete(dead_letters).where(dead_letters.c.id.in_(letter_ids)).returning(dead_letters.c.id)
        async with self._engine.begin() as connection:
            return tuple((await connection.execute(statement)).scalars())


async def _send_again(connection: AsyncConnection, letter: StoredDeadLetter) -> str | None:
    """None, or why it cannot be sent."""
    stream = stream_of(letter.subject)
    if stream is None:
        return f"no stream takes the subject {letter.subject}"
    event_id = _claimed_id(letter) or uuid4()
    row = {
        "event_id": event_id,
        "subject": letter.subject,
        "stream": stream,
        "payload": letter.payload,
        "headers": _headers_to_send(letter, event_id),
        "epoch": _last_epoch(letter),
    }
    await connection.execute(insert(outbox).values(row).on_conflict_do_nothing(index_elements=["event_id"]))
    waiting = await connection.execute(select(outbox.c.payload).where(outbox.c.event_id == event_id))
    return (
        None if waiting.scalar_one() == letter.payload else "another event with the same id still waits to be applied"
    )


def _headers_to_send(letter: StoredDeadLetter, event_id: UUID) -> dict[str, str]:
    """Without the broker's own headers, with which it would refuse the message."""
    kept = {name: value for name, value in letter.headers.items() if not name.lower().startswith(_NATS_HEADERS)}
    return {**kept, CE_ID: str(event_id)}


def _last_epoch(letter: StoredDeadLetter) -> int:
    """The next one is new to the broker, whose duplicate window would swallow one that it knows."""
    epoch = letter.headers.get(Header.MSG_ID, "").rpartition(":")[2]
    return int(epoch) if epoch.isdigit() and len(epoch) < 9 else 0


def _claimed_id(letter: StoredDeadLetter) -> UUID | None:
    try:
        return UUID(letter.event_id)
    except ValueError:
        return None


def select_letters() -> Select[Any]:
    """Rows for `stored_letter`, to be narrowed and ordered."""
    columns = dead_letters.c
    return select(
        columns.id,
        columns.consumer,
        columns.event_id,
        columns.subject,
        columns.reason_class,
        columns.deliveries,
        columns.first_seen_at,
        columns.last_seen_at,
        columns.payload,
        columns.headers,
    )


def _locked(letter_ids: Sequence[UUID]) -> Select[Any]:
    return select_letters().where(dead_letters.c.id.in_(letter_ids)).order_by(dead_letters.c.id).with_for_update()


def stored_letter(row: Row[Any]) -> StoredDeadLetter:
    return StoredDeadLetter(**row._asdict())
