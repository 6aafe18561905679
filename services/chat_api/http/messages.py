"""What can be done with an answer: rate it, open a source of it."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import BaseModel, BeforeValidator, ConfigDict

from services.chat_api.http.authentication import AnyCaller, AnyFront
from services.chat_api.http.identifiers import ClientId, MessageId

router = APIRouter(prefix="/api/v1/messages/{message_id}", tags=["messages"])


def _no_boolean(value: object) -> object:
    """`true` equals 1 in Python, and is no rating."""
    if isinstance(value, bool):
        raise ValueError("must be 1, -1 or null")
    return value


class FeedbackRequest(BaseModel):
    """`value` 1 is helpful, -1 is not, null takes a rating back."""

    model_config = ConfigDict(extra="forbid")

    value: Annotated[Literal[-1, 1] | None, BeforeValidator(_no_boolean)]


class FeedbackAccepted(BaseModel):
    message_id: UUID
    value: Literal[-1, 1] | None
    revision: int


class OpenRequest(BaseModel):
    """`click_id` is chosen by the client; the same click sent twice counts once."""

    model_config = ConfigDict(extra="forbid")

    click_id: ClientId


class OpenAccepted(BaseModel):
    url: str


@router.put("/feedback", status_code=202)
async def rate(message_id: MessageId, body: FeedbackRequest, caller: AnyCaller, front: AnyFront) -> FeedbackAccepted:
    """Rate one's own answer. The rating stands as soon as the worker has written it."""
    revision = await front.rate_message.execute(caller, message_id, body.value)
    return FeedbackAccepted(message_id=message_id, value=body.value, revision=revision)


@router.post("/citations/{n}/open", status_code=202)
async def open_citation(
    message_id: MessageId,
    n: Annotated[int, Path(ge=1, le=1_000)],
    body: OpenRequest,
    caller: AnyCaller,
    front: AnyFront,
) -> OpenAccepted:
    """Where the cited source can be read. The click is noted as use of that source."""
    citation = await front.open_source.execute(caller, message_id, n, body.click_id)
    return OpenAccepted(url=citation.url)
