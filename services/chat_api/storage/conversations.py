"""Conversations and their messages, always by owner."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Row, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome
from services.chat_api.domain.turn_events import Notice
from services.chat_api.storage.keyset import Page, PageRequest, read_page
from shared.database.tables.chat import conversations, messages


@dataclass(frozen=True, slots=True)
class Conversation:
    id: UUID
    title: str
    selected_model: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """`outcome`, `model` and `tokens_used` belong to assistant messages and are None on a user's."""

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


async def create_conversation(connection: AsyncConnection, conversation: Conversation, owner_id: str) -> None:
    await connection.execute(
        insert(conversations).values(
            id=conversation.id,
            owner_id=owner_id,
            title=conversation.title,
            selected_model=conversation.selected_model,
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
        )
    )


async def find_conversation(connection: AsyncConnection, conversation_id: UUID, owner_id: str) -> Conversation | None:
    statement = select(*_CONVERSATION).where(
        conversations.c.id == conversation_id, conversations.c.owner_id == owner_id
    )
    row = (await connection.execute(statement)).one_or_none()
    return Conversation(**row._asdict()) if row else None


async def list_conversations(connection: AsyncConnection, owner_id: str, page: PageRequest) -> Page[Conversation]:
    """Newest activity first, unless asked the other way round."""
    statement = select(*_CONVERSATION).where(conversations.c.owner_id == owner_id)
    anchor = select(conversations.c.updated_at, conversations.c.id).where(conversations.c.owner_id == owner_id)
    rows, has_more = await read_page(
        connection, statement, anchor, (conversations.c.updated_at, conversations.c.id), page
    )
    return Page(tuple(Conversation(**row._asdict()) for row in rows), has_more)


async def read_messages(connection: AsyncConnection, conversation_id: UUID) -> list[Message]:
    statement = select(*_MESSAGE).where(messages.c.conversation_id == conversation_id).order_by(messages.c.position)
    return [_message(row) for row in await connection.execute(statement)]


async def recent_messages(
    connection: AsyncConnection, conversation_id: UUID, *, before: UUID, limit: int
) -> list[Message]:
    """The last `limit` messages in order, without the message `before` that is being answered."""
    statement = (
        select(*_MESSAGE)
        .where(messages.c.conversation_id == conversation_id, messages.c.id != before)
        .order_by(messages.c.position.desc())
        .limit(limit)
    )
    found = [_message(row) for row in await connection.execute(statement)]
    found.reverse()
    return found


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
