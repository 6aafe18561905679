"""Turns that are under way, and the statement that ends one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Row, Select, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome
from services.chat_api.domain.turn_events import Notice
from shared.database.driver import Driver
from shared.database.tables.chat import turns
from shared.messaging.outbox import OutboxRow, columns_of

_STOP_GRACE = timedelta(seconds=5)

# One statement, and written out: it runs in every turn.
_FINISH_TURN = """
    WITH ended AS (
        UPDATE chat.turns SET state = 'finished', outcome = $2, finished_at = $3
        WHERE message_id = $1 AND state = 'running' RETURNING conversation_id
    ), answer AS (
        INSERT INTO chat.messages (id, conversation_id, role, content, outcome, model, tokens_used, citations, hint,
                                   notices, created_at)
        SELECT $1, conversation_id, 'assistant', $4, $2, $5, $6, $7, $8, $9, $3 FROM ended
    ), touched AS (
        UPDATE chat.conversations SET updated_at = greatest(updated_at, $3)
        FROM ended WHERE id = ended.conversation_id
    ), events AS (
        INSERT INTO mesh.outbox (event_id, subject, stream, payload, headers)
        SELECT event.* FROM ended, unnest($10::uuid[], $11::text[], $12::text[], $13::bytea[], $14::jsonb[]) AS event
        ON CONFLICT (event_id) DO NOTHING
    )
    SELECT conversation_id FROM ended
"""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    message_id: UUID
    conversation_id: UUID
    user_message_id: UUID
    running: bool
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class FinishedMessage:
    """The assistant message as it is written once, complete."""

    message_id: UUID
    conversation_id: UUID
    content: str
    outcome: Outcome
    model: str | None
    tokens_used: int
    citations: tuple[Citation, ...]
    hint: Hint | None
    notices: tuple[Notice, ...]
    finished_at: datetime


async def find_running(connection: AsyncConnection, conversation_id: UUID) -> StoredTurn | None:
    statement = _select_turn().where(turns.c.conversation_id == conversation_id, turns.c.state == "running")
    row = (await connection.execute(statement)).one_or_none()
    return _stored(row) if row else None


async def find_turn(connection: AsyncConnection, message_id: UUID, owner_id: str) -> StoredTurn | None:
    statement = _select_turn().where(turns.c.message_id == message_id, turns.c.owner_id == owner_id)
    row = (await connection.execute(statement)).one_or_none()
    return _stored(row) if row else None


async def request_stop(connection: AsyncConnection, message_id: UUID, now: datetime) -> None:
    await connection.execute(update(turns).where(turns.c.message_id == message_id).values(stop_requested_at=now))


async def stops_requested(connection: AsyncConnection, message_ids: Collection[UUID]) -> list[UUID]:
    """Those of the turns that somebody asked to stop."""
    statement = select(turns.c.message_id).where(
        turns.c.message_id.in_(message_ids), turns.c.stop_requested_at.is_not(None)
    )
    return list(await connection.scalars(statement))


async def finish_turn(connection: Driver, message: FinishedMessage, events: Sequence[OutboxRow] = ()) -> bool:
    """Write the assistant message and its events and end its turn, all in one statement.

    False if somebody else ended it already: nothing is written.
    """
    citations = [citation.model_dump() for citation in message.citations]
    ended = await connection.fetchval(
        _FINISH_TURN,
        message.message_id,
        message.outcome,
        message.finished_at,
        message.content,
        message.model,
        message.tokens_used,
        msgspec.json.encode(citations).decode(),
        message.hint.model_dump_json() if message.hint else None,
        msgspec.json.encode(message.notices).decode(),
        *columns_of(events),
    )
    return ended is not None


async def lapsed_turns(connection: AsyncConnection, now: datetime, *, limit: int) -> list[StoredTurn]:
    """Running turns whose lease has run out, or whose stop nobody answered: the front that ran them is gone."""
    statement = (
        _select_turn()
        .where(
            turns.c.state == "running",
            or_(turns.c.lease_until < now, turns.c.stop_requested_at < now - _STOP_GRACE),
        )
        .order_by(turns.c.lease_until)
        .limit(limit)
    )
    return [_stored(row) for row in await connection.execute(statement)]


def _select_turn() -> Select[Any]:
    return select(turns.c.message_id, turns.c.conversation_id, turns.c.user_message_id, turns.c.state, turns.c.outcome)


def _stored(row: Row[*tuple[Any, ...]]) -> StoredTurn:
    message_id, conversation_id, user_message_id, state, outcome = row
    return StoredTurn(message_id, conversation_id, user_message_id, state == "running", outcome)
