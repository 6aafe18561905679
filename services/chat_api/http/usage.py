"""`/api/v1/usage`: what was used and what it cost. One's own for everybody, all of it for finance."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from services.chat_api.domain.usage_query import UsageQuery
from services.chat_api.domain.usage_row import UsageRow, decimal_text
from services.chat_api.http.authentication import AnyFront, SignedIn
from services.chat_api.http.identifiers import AnyPage
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.http.usage_questions import AskedUsage
from services.chat_api.storage.usage import usage_cursor

router = APIRouter(prefix="/api/v1/usage", tags=["usage"])
ExactDecimal = Annotated[Decimal, PlainSerializer(decimal_text, return_type=str)]


class UsageRowBody(BaseModel):
    """The calls of one bucket and group in one currency. `from` and `to` are the days that are counted, both of them.

    What was not grouped by is null. `currency` and `cost` are null where the price is unknown: never 0, and
    `unpriced_calls` says of how many calls. `estimated_calls` are those whose provider did not say its tokens.
    `cached_share` is that of the input tokens; cached and cache-write tokens are part of the input, reasoning tokens
    of the output."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    id: str
    object: Literal["usage"] = "usage"
    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to")
    day: date | None
    user: str | None
    department: str | None
    provider: str | None
    model: str | None
    currency: str | None
    cost: ExactDecimal | None = Field(description="Exact, as text")
    calls: int
    unpriced_calls: int
    estimated_calls: int
    answers: int
    input_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cached_share: float | None


class UsageScopeBody(BaseModel):
    """Whose usage can be asked for, and when. Days are those of `time_zone`; without usage there is no first day."""

    model_config = ConfigDict(from_attributes=True)

    object: Literal["usage_scope"] = "usage_scope"
    everyone: bool = Field(description="Whether all usage can be asked for, or one's own only")
    time_zone: str
    today: date
    first_day: date | None
    last_day: date | None


@router.get("")
async def list_usage(query: AskedUsage, page: AnyPage, front: AnyFront, response: Response) -> ListBody[UsageRowBody]:
    """By bucket, newest first, then by what is grouped, then by currency: there is no sum over currencies."""
    response.headers["cache-control"] = "no-store"
    found = await front.read_usage.list(query, page)
    return list_body(found, lambda row: _body(query, row), lambda row: usage_cursor(query, row))


@router.get("/scope")
async def read_scope(identity: SignedIn, front: AnyFront, response: Response) -> UsageScopeBody:
    """What an asker needs to know first."""
    response.headers["cache-control"] = "no-store"
    return UsageScopeBody.model_validate(await front.read_usage.scope(identity))


def _body(query: UsageQuery, row: UsageRow) -> UsageRowBody:
    named = {name: getattr(row, name) for name in UsageRowBody.model_fields if name not in ("id", "object")}
    return UsageRowBody(id=usage_cursor(query, row), **named)
