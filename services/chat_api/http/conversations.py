"""One's own conversations: the list and a thread."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome
from services.chat_api.domain.turn_events import NoticeCode
from services.chat_api.http.authentication import AnyFront, SignedIn
from services.chat_api.http.identifiers import AnyPage, ConversationId
from services.chat_api.use_cases.read_conversations import ConversationThread

router = APIRouter(prefix="/api/v1", tags=["conversations"])


class ConversationBody(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    title: str
    selected_model: str | None
    created_at: datetime
    updated_at: datetime


class ConversationList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ConversationBody]
    first_id: UUID | None
    last_id: UUID | None
    has_more: bool


class NoticeBody(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    code: NoticeCode
    text: str


class MessageBody(BaseModel):
    """`outcome`, `model`, `tokens_used`, `citations`, `hint`, `notices` and `feedback` belong to answers."""

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
    created_at: datetime


class ThreadBody(ConversationBody):
    messages: list[MessageBody]
    running_message_id: UUID | None


@router.get("/conversations")
async def list_conversations(identity: SignedIn, front: AnyFront, page: AnyPage) -> ConversationList:
    """Newest activity first. `after` and `before` take ids from the list."""
    found = await front.read_conversations.list(identity, page)
    data = [ConversationBody.model_validate(one) for one in found.items]
    return ConversationList(
        data=data,
        first_id=data[0].id if data else None,
        last_id=data[-1].id if data else None,
        has_more=found.has_more,
    )


@router.get("/conversations/{conversation_id}")
async def read_conversation(conversation_id: ConversationId, identity: SignedIn, front: AnyFront) -> ThreadBody:
    """A thread with its messages in order. Unknown and somebody else's are the same 404."""
    return _thread_body(await front.read_conversations.thread(identity, conversation_id))


def _thread_body(thread: ConversationThread) -> ThreadBody:
    return ThreadBody(
        **ConversationBody.model_validate(thread.conversation).model_dump(),
        messages=[MessageBody.model_validate(message) for message in thread.messages],
        running_message_id=thread.running_message_id,
    )
