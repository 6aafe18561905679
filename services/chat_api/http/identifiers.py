"""Ids in paths and cursors. One that is no UUID is simply unknown, not an error of its own kind."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Path, Query
from pydantic import StringConstraints

from services.chat_api.storage.keyset import BadCursorError, PageRequest
from services.chat_api.use_cases.errors import NotFoundError

# Chosen by the client: any visible ASCII, such as a UUID.
ClientId = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[!-~]+$")]


def parse_id(text: str) -> UUID:
    """Raises NotFoundError."""
    try:
        return UUID(text)
    except ValueError:
        raise NotFoundError from None


async def conversation_id(conversation_id: Annotated[str, Path(max_length=64)]) -> UUID:
    return parse_id(conversation_id)


async def message_id(message_id: Annotated[str, Path(max_length=64)]) -> UUID:
    return parse_id(message_id)


def letter_id(letter_id: Annotated[str, Path(max_length=64)]) -> UUID:
    return parse_id(letter_id)


ConversationId = Annotated[UUID, Depends(conversation_id)]
MessageId = Annotated[UUID, Depends(message_id)]
LetterId = Annotated[UUID, Depends(letter_id)]


def page_request(
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    order: Annotated[Literal["asc", "desc"], Query()] = "desc",
    after: Annotated[str | None, Query()] = None,
    before: Annotated[str | None, Query()] = None,
) -> PageRequest:
    """Raises BadCursorError."""
    if after is not None and before is not None:
        raise BadCursorError("Give `after` or `before`, not both.")
    if any(cursor is not None and (not cursor or "\x00" in cursor) for cursor in (after, before)):
        raise BadCursorError
    return PageRequest(limit, order, after, before)


AnyPage = Annotated[PageRequest, Depends(page_request)]
