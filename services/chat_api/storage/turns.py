"""Turns and messages: the short transaction that opens a turn, and the one that ends it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome
from services.chat_api.domain.turn_events import Notice
from services.chat_api.storage.setting_revisions import settings_version
from shared.database.tables.chat import conversations, messages, turns

_RUNNING_TURN = "uq_turns_running_conversation"
_STOP_GRACE = timedelta(seconds=5)
_CLIENT_MESSAGE = "uq_turns_owner_id_client_message_id"


@dataclass(frozen=True, slots=True)
class NewTurn:
    """Everything that the opening transaction writes."""

    message_id: UUID
    task_id: UUID
    conversation_id: UUID
    user_message_id: UUID
    owner_id: str
    client_message_id: str
    message: str
    started_at: datetime
    lease: timedelta


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


class ConversationBusyError(Exception):
    """Another turn of this conversation is running."""


class ClientMessageKnownError(Exception):
    """A turn with this client message id exists already."""


async def find_by_client_message(
    connection: AsyncConnection, owner_id: str, client_message_id: str
) -> StoredTurn | None:
    statement = _select_turn().where(turns.c.owner_id == owner_id, turns.c.client_message_id == client_message_id)
    row = (await connection.execute(statement)).one_or_none()
    return _stored(row) if row else None


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


async def open_turn(connection: AsyncConnection, turn: NewTurn) -> int:
    """Store the user's message and the running turn; returns the version of the runtime settings as this transaction
    sees it. Raises ConversationBusyError or ClientMessageKnownError."""
    await connection.execute(
        insert(messages).values(
            id=turn.user_message_id,
            conversation_id=turn.conversation_id,
            role="user",
            content=turn.message,
            created_at=turn.started_at,
        )
    )
    try:
        version = await connection.scalar(
            insert(turns)
            .values(
                message_id=turn.message_id,
                task_id=turn.task_id,
                conversation_id=turn.conversation_id,
                owner_id=turn.owner_id,
                client_message_id=turn.client_message_id,
                user_message_id=turn.user_message_id,
                state="running",
                lease_until=turn.started_at + turn.lease,
                started_at=turn.started_at,
            )
            .returning(settings_version)
        )
    except IntegrityError as fault:
        if _CLIENT_MESSAGE in str(fault.orig):
            raise ClientMessageKnownError from fault
        if _RUNNING_TURN in str(fault.orig):
            raise ConversationBusyError from fault
        raise
    return int(version or 0)


async def finish_turn(connection: AsyncConnection, message: FinishedMessage) -> bool:
    """Write the assistant message and end its turn. False if somebody else ended it already: nothing is written."""
    ended = await connection.execute(
        update(turns)
        .where(turns.c.message_id == message.message_id, turns.c.state == "running")
        .values(state="finished", outcome=message.outcome, finished_at=message.finished_at)
    )
    if ended.rowcount == 0:
        return False
    await connection.execute(
        insert(messages).values(
            id=message.message_id,
            conversation_id=message.conversation_id,
            role="assistant",
            content=message.content,
            outcome=message.outcome,
            model=message.model,
            tokens_used=message.tokens_used,
            citations=[citation.model_dump(mode="json") for citation in message.citations],
            hint=message.hint.model_dump(mode="json") if message.hint else None,
            notices=[{"code": notice.code, "text": notice.text} for notice in message.notices],
            created_at=message.finished_at,
        )
    )
    await connection.execute(
        update(conversations)
        .where(conversations.c.id == message.conversation_id)
        .values(updated_at=func.greatest(conversations.c.updated_at, message.finished_at))
    )
    return True


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
        .with_for_update(skip_locked=True)
    )
    return [_stored(row) for row in await connection.execute(statement)]


def _select_turn() -> Select[Any]:
    return select(turns.c.message_id, turns.c.conversation_id, turns.c.user_message_id, turns.c.state, turns.c.outcome)


def _stored(row: Row[*tuple[Any, ...]]) -> StoredTurn:
    message_id, conversation_id, user_message_id, state, outcome = row
    return StoredTurn(message_id, conversation_id, user_message_id, state == "running", outcome)
