"""`/api/v1/admin/dead-letters`: events that could not be applied."""

from base64 import b64encode
from datetime import datetime
from uuid import UUID

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field

from services.chat_api.http.authentication import AnyFront, AsAdmin
from services.chat_api.http.identifiers import AnyPage, LetterId
from services.chat_api.http.lists import ListBody, list_body
from shared.messaging.dead_letters import StoredDeadLetter


def _keep_nowhere(response: Response) -> None:
    response.headers["cache-control"] = "no-store"


router = APIRouter(prefix="/api/v1/admin/dead-letters", tags=["admin"], dependencies=[Depends(_keep_nowhere)])


class DeadLetterSummary(BaseModel):
    """`event_id` is what the sender claimed; `reason_class` says why the event could not be applied."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    consumer: str
    event_id: str
    subject: str
    reason_class: str
    deliveries: int
    first_seen_at: datetime
    last_seen_at: datetime


class DeadLetterBody(DeadLetterSummary):
    """With the event itself, as it was sent: as text, or in Base64 where it is no UTF-8."""

    headers: dict[str, str]
    event: str | None = Field(description="The event's body; null where it is no UTF-8 text")
    event_base64: str | None = Field(description="The event's body where it is no UTF-8 text; else null")


class ReplayAccepted(BaseModel):
    id: UUID


@router.get("")
async def list_dead_letters(_admin: AsAdmin, front: AnyFront, page: AnyPage) -> ListBody[DeadLetterSummary]:
    """Those first seen last come first."""
    found = await front.dead_letters.list(page)
    return list_body(found, DeadLetterSummary.model_validate, lambda letter: letter.id)


@router.get("/{letter_id}")
async def read_dead_letter(_admin: AsAdmin, letter_id: LetterId, front: AnyFront) -> DeadLetterBody:
    """One dead letter with its event."""
    return _body(await front.dead_letters.find(letter_id))


@router.post("/{letter_id}/replay", status_code=202)
async def replay_dead_letter(_admin: AsAdmin, letter_id: LetterId, front: AnyFront) -> ReplayAccepted:
    """Send the event once more. It is applied at most once, and comes back as a dead letter if it fails again."""
    await front.dead_letters.replay(letter_id)
    return ReplayAccepted(id=letter_id)


@router.delete("/{letter_id}", status_code=204)
async def discard_dead_letter(_admin: AsAdmin, letter_id: LetterId, front: AnyFront) -> None:
    """Give the event up for good: what it would have changed is lost."""
    await front.dead_letters.discard(letter_id)


def _body(letter: StoredDeadLetter) -> DeadLetterBody:
    try:
        event, event_base64 = letter.payload.decode(), None
    except UnicodeDecodeError:
        event, event_base64 = None, b64encode(letter.payload).decode()
    summary = DeadLetterSummary.model_validate(letter)
    return DeadLetterBody(**summary.model_dump(), headers=letter.headers, event=event, event_base64=event_base64)
