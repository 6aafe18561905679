"""What the transaction that opens a turn reads and writes. Its statements never change: they go past SQLAlchemy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from services.chat_api.domain.model_call import ModelMessage
from services.chat_api.storage.turns import StoredTurn
from shared.database.driver import Driver

_RUNNING_TURN = "uq_turns_running_conversation"
_SAME_THREAD = "pk_conversations"
_CLIENT_MESSAGE = "uq_turns_owner_id_client_message_id"

_FIND_KNOWN = """
    SELECT message_id, conversation_id, user_message_id, state = 'running', outcome
    FROM chat.turns WHERE owner_id = $1 AND client_message_id = $2
"""
_FIND_THREAD = "SELECT selected_model FROM chat.conversations WHERE id = $1 AND owner_id = $2"
_ADD_THREAD = """
    INSERT INTO chat.conversations (id, owner_id, title, selected_model, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $5)
"""
_ADD_TURN = """
    INSERT INTO chat.turns (message_id, task_id, conversation_id, owner_id, client_message_id, user_message_id, state,
                            lease_until, started_at)
    VALUES ($1, $2, $3, $4, $5, $6, 'running', $7, $8)
    RETURNING (SELECT coalesce(max(position), 0) FROM chat.setting_revisions)
"""
# The question is not a part of its own history: a statement does not see what it inserts.
_ADD_QUESTION = """
    WITH question AS (
        INSERT INTO chat.messages (id, conversation_id, role, content, created_at) VALUES ($1, $2, 'user', $3, $4)
    )
    SELECT role, content FROM chat.messages WHERE conversation_id = $2 ORDER BY position DESC LIMIT $5
"""


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
class Thread:
    """What a turn needs of its conversation."""

    id: UUID
    selected_model: str | None


@dataclass(frozen=True, slots=True)
class OpenedTurn:
    """What was said before, oldest first, and the version of the runtime settings as the transaction sees it."""

    history: tuple[ModelMessage, ...]
    settings_version: int


class ConversationBusyError(Exception):
    """Another turn of this conversation is running."""


class ClientMessageKnownError(Exception):
    """A turn with this client message id exists already."""


async def find_by_client_message(connection: Driver, owner_id: str, client_message_id: str) -> StoredTurn | None:
    row = await connection.fetchrow(_FIND_KNOWN, owner_id, client_message_id)
    return StoredTurn(*row) if row else None


async def find_thread(connection: Driver, conversation_id: UUID, owner_id: str) -> Thread | None:
    row = await connection.fetchrow(_FIND_THREAD, conversation_id, owner_id)
    return Thread(conversation_id, row["selected_model"]) if row else None


async def add_thread(connection: Driver, thread: Thread, owner_id: str, *, title: str, now: datetime) -> None:
    """Raises ConversationBusyError where two first messages of one thread come at once: the next look finds it."""
    with _conflicts_told_apart():
        await connection.execute(_ADD_THREAD, thread.id, owner_id, title, thread.selected_model, now)


async def open_turn(connection: Driver, turn: NewTurn, *, history_rows: int) -> OpenedTurn:
    """Store the running turn and the user's message.

    The turn comes first: where another one ends just now, this waits, and the history holds that one's answer.
    Raises ConversationBusyError or ClientMessageKnownError.
    """
    with _conflicts_told_apart():
        settings_version = await connection.fetchval(
            _ADD_TURN,
            turn.message_id,
            turn.task_id,
            turn.conversation_id,
            turn.owner_id,
            turn.client_message_id,
            turn.user_message_id,
            turn.started_at + turn.lease,
            turn.started_at,
        )
    rows = await connection.fetch(
        _ADD_QUESTION, turn.user_message_id, turn.conversation_id, turn.message, turn.started_at, history_rows
    )
    history = tuple(ModelMessage(role, content) for role, content in reversed(rows))
    return OpenedTurn(history, settings_version)


@contextmanager
def _conflicts_told_apart() -> Iterator[None]:
    try:
        yield
    except asyncpg.UniqueViolationError as fault:
        if fault.constraint_name == _CLIENT_MESSAGE:
            raise ClientMessageKnownError from fault
        if fault.constraint_name in (_RUNNING_TURN, _SAME_THREAD):
            raise ConversationBusyError from fault
        raise
