"""One's own conversations: list and search, read, rename, select a model, delete."""

import unicodedata
from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome
from services.chat_api.domain.turn_events import NoticeCode
from services.chat_api.http.authentication import AnyCaller, AnyFront
from services.chat_api.http.identifiers import AnyPage, ConversationId
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.storage.conversations import Conversation, ConversationChange, ModelSelection
from services.chat_api.storage.keyset import moving_cursor
from services.chat_api.use_cases.read_conversations import ConversationThread

router = APIRouter(prefix="/api/v1", tags=["conversations"])
_LINE_BREAKING = ("Cc", "Zl", "Zp")
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class ConversationBody(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    title: str
    selected_model: str | None
    created_at: datetime
    updated_at: datetime


class NoticeBody(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    code: NoticeCode
    text: str


class MessageBody(BaseModel):
    """`outcome`, `model`, `tokens_used`, `citations`, `hint`, `notices` and `feedback` belong to answers. `stopped` is
    true of an interrupted answer that its owner ended."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    role: Literal["user", "assistant"]
    content: str
    outcome: Outcome | None
    model: str | None
    tokens_used: int | None
    citations: tuple[Citation, ...]
    hint: Hint | None
    notices: tuple[NoticeBody, ...]
    feedback: Literal[-1, 1] | None
    stopped: bool
    created_at: datetime


class ThreadBody(ConversationBody):
    """The newest messages in order. With `has_more` there are older ones, to be read as a list of their own."""

    messages: list[MessageBody]
    has_more: bool
    running_message_id: UUID | None


def _printable(text: str) -> str:
    """One line without control characters, and without those that turn the reading direction of what follows. Raises
    ValueError if nothing visible is left."""
    kept = (" " if unicodedata.category(char) in _LINE_BREAKING else char for char in text if char not in _TURNING)
    line = " ".join("".join(kept).split())
    if not any(char.isprintable() and not char.isspace() for char in line):
        raise ValueError("a title needs at least one visible character")
    return line


class ConversationPatch(BaseModel):
    """What is left out stays. `selected_model` null selects the default model."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"title": "Annual leave"}})

    title: Annotated[str, Field(max_length=200), AfterValidator(_printable)] = ""
    selected_model: str | None = Field(default=None, max_length=200)

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("give `title`, `selected_model` or both")
        return self

    @property
    def change(self) -> ConversationChange:
        selects = "selected_model" in self.model_fields_set
        return ConversationChange(
            title=self.title or None, selection=ModelSelection(self.selected_model) if selects else None
        )


@router.get("/conversations")
async def list_conversations(
    caller: AnyCaller,
    front: AnyFront,
    page: AnyPage,
    q: Annotated[str, Query(max_length=200, description="Words that title or message must hold, in any case")] = "",
) -> ListBody[ConversationBody]:
    """Newest activity first. A conversation moves when it is used, so the cursors carry the place where it was seen:
    paging on neither skips nor repeats what stayed in place."""
    found = await front.read_conversations.list(caller, page, q.replace("\x00", " "))
    return list_body(found, ConversationBody.model_validate, _cursor_of)


@router.get("/conversations/{conversation_id}")
async def read_conversation(conversation_id: ConversationId, caller: AnyCaller, front: AnyFront) -> ThreadBody:
    """A thread with its newest messages in order. Unknown and somebody else's are the same 404."""
    return _thread_body(await front.read_conversations.thread(caller, conversation_id))


@router.get("/conversations/{conversation_id}/messages")
async def list_messages(
    conversation_id: ConversationId, caller: AnyCaller, front: AnyFront, page: AnyPage
) -> ListBody[MessageBody]:
    """All messages of a thread, newest first unless asked the other way round."""
    found = await front.read_conversations.messages(caller, conversation_id, page)
    return list_body(found, MessageBody.model_validate, lambda message: message.id)


@router.patch("/conversations/{conversation_id}")
async def change_conversation(
    conversation_id: ConversationId, body: ConversationPatch, caller: AnyCaller, front: AnyFront
) -> ConversationBody:
    """Rename it, or select the model of its next answers; earlier answers stay as they are."""
    changed = await front.change_conversation.execute(caller, conversation_id, body.change)
    return ConversationBody.model_validate(changed)


@router.delete("/conversations/{conversation_id}", status_code=204)
async def delete_conversation(conversation_id: ConversationId, caller: AnyCaller, front: AnyFront) -> None:
    """For good, with its messages and traces; a running answer is stopped first. Its usage stays counted."""
    await front.delete_conversation.execute(caller, conversation_id)


def _cursor_of(conversation: Conversation) -> str:
    return moving_cursor(conversation.updated_at, conversation.id)


def _thread_body(thread: ConversationThread) -> ThreadBody:
    return ThreadBody(
        **ConversationBody.model_validate(thread.conversation).model_dump(),
        messages=[MessageBody.model_validate(message) for message in thread.messages],
        has_more=thread.has_more,
        running_message_id=thread.running_message_id,
    )
