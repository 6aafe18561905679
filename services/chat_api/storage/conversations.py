"""Conversations and their messages, always by owner."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Column, ColumnElement, Row, Select, and_, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome
from services.chat_api.domain.turn_events import Notice
from services.chat_api.storage.keyset import Page, PageRequest, read_page
from shared.database.tables.chat import conversations, messages, turns


@dataclass(frozen=True, slots=True)
class Conversation:
    id: UUID
    title: str
    selected_model: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """None selects whatever the default is."""

    model: str | None


@dataclass(frozen=True, slots=True)
class ConversationChange:
    """What is None stays as it is."""

    title: str | None = None
    selection: ModelSelection | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """`outcome`, `model` and `tokens_used` belong to assistant messages and are None on a user's. `stopped` is true
    of an interrupted answer that its owner ended."""

    id: UUID
    conversation_id: UUID
    role: Literal["user", "assistant"]
    content: str
    outcome: Outcome | None
    model: str | None
    tokens_used: int | None
    citations: tuple[Citation, ...]
    hint: Hint | None
    notices: tuple[Notice, ...]
    feedback: Literal[-1, 1] | None
    created_at: datetime
    stopped: bool = False


_CONVERSATION = (
    conversations.c.id,
    conversations.c.title,
    conversations.c.selected_model,
    conversations.c.created_at,
    conversations.c.updated_at,
)
_MESSAGE = (
    messages.c.id,
    messages.c.conversation_id,
    messages.c.role,
    messages.c.content,
    messages.c.outcome,
    messages.c.model,
    messages.c.tokens_used,
    messages.c.citations,
    messages.c.hint,
    messages.c.notices,
    messages.c.feedback,
    messages.c.created_at,
)
_STOPPED = exists().where(
    turns.c.message_id == messages.c.id, turns.c.outcome == "interrupted", turns.c.stop_requested_at.is_not(None)
)
_LAST_ACTIVITY = (conversations.c.updated_at, conversations.c.id)
_PLACE = (messages.c.position, messages.c.id)


async def find_conversation(connection: AsyncConnection, conversation_id: UUID, owner_id: str) -> Conversation | None:
    statement = select(*_CONVERSATION).where(
        conversations.c.id == conversation_id, conversations.c.owner_id == owner_id
    )
    row = (await connection.execute(statement)).one_or_none()
    return Conversation(**row._asdict()) if row else None


async def lock_conversation(connection: AsyncConnection, conversation_id: UUID, owner_id: str) -> bool:
    """Whether it exists. Until this transaction ends no turn can be opened in it."""
    statement = (
        select(conversations.c.id)
        .where(conversations.c.id == conversation_id, conversations.c.owner_id == owner_id)
        .with_for_update()
    )
    return (await connection.execute(statement)).one_or_none() is not None


async def list_conversations(
    connection: AsyncConnection, owner_id: str, words: Sequence[str], page: PageRequest
) -> Page[Conversation]:
    """Newest activity first, unless asked the other way round. With words only those that hold all of them, in the
    title or in one message, whatever the case. Raises BadCursorError."""
    own = conversations.c.owner_id == owner_id
    statement = select(*_CONVERSATION).where(own)
    if words:
        statement = statement.where(or_(_holds(conversations.c.title, words), _in_a_message(words)))
    rows, has_more = await read_page(connection, statement, _anchor(own), _LAST_ACTIVITY, page, moving=True)
    return Page(tuple(Conversation(**row._asdict()) for row in rows), has_more)


def _anchor(own: ColumnElement[bool]) -> Select[Any]:
    return select(*_LAST_ACTIVITY).where(own)


def _holds(text: Column[Any], words: Sequence[str]) -> ColumnElement[bool]:
    return and_(*(text.icontains(word, autoescape=True) for word in words))


def _in_a_message(words: Sequence[str]) -> ColumnElement[bool]:
    """Read conversation by conversation of the owner until the page is full: what others wrote costs nothing."""
    return exists().where(messages.c.conversation_id == conversations.c.id, _holds(messages.c.content, words))


async def change_conversation(
    connection: AsyncConnection, conversation_id: UUID, owner_id: str, change: ConversationChange, now: datetime
) -> Conversation | None:
    """Moves the time of the last activity as well. None if there is no such conversation."""
    statement = (
        update(conversations)
        .where(conversations.c.id == conversation_id, conversations.c.owner_id == owner_id)
        .values(updated_at=func.greatest(conversations.c.updated_at, now))
        .returning(*_CONVERSATION)
    )
    if change.title is not None:
        statement = statement.values(title=change.title)
    if change.selection is not None:
        statement = statement.values(selected_model=change.selection.model)
    row = (await connection.execute(statement)).one_or_none()
    return Conversation(**row._asdict()) if row else None


async def delete_conversation(connection: AsyncConnection, conversation_id: UUID) -> None:
    """With its messages, turns and traces, which hang on it by foreign keys. What it cost is kept elsewhere."""
    await connection.execute(delete(conversations).where(conversations.c.id == conversation_id))


async def list_messages(connection: AsyncConnection, conversation_id: UUID, page: PageRequest) -> Page[Message]:
    """Raises BadCursorError."""
    of_this = messages.c.conversation_id == conversation_id
    statement = select(*_MESSAGE, _STOPPED.label("stopped")).where(of_this)
    rows, has_more = await read_page(connection, statement, select(*_PLACE).where(of_this), _PLACE, page)
    return Page(tuple(_message(row) for row in rows), has_more)


async def find_message(connection: AsyncConnection, message_id: UUID, owner_id: str) -> Message | None:
    statement = (
        select(*_MESSAGE)
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(messages.c.id == message_id, conversations.c.owner_id == owner_id)
    )
    row = (await connection.execute(statement)).one_or_none()
    return _message(row) if row else None


def _message(row: Row[*tuple[Any, ...]]) -> Message:
    values = row._asdict()
    hint = values["hint"]
    values["hint"] = Hint.model_validate(hint) if hint else None
    values["notices"] = tuple(Notice(**one) for one in values["notices"])
    values["citations"] = tuple(Citation.model_validate(one) for one in values["citations"])
    return Message(**values)
