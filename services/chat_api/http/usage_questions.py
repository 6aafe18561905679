"""What can be asked of the usage in an address, for the list and for the files alike."""

import re
from datetime import date
from typing import Annotated

from fastapi import Depends, Query
from pydantic import AfterValidator, BeforeValidator

from services.chat_api.domain.usage_query import Bucket, Grouping, UsageFilters, UsageQuery
from services.chat_api.http.authentication import AnyFront, SignedIn

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _written_as_a_day(value: object) -> object:
    """Pydantic also takes seconds since 1970 for a date, which nobody means here."""
    if isinstance(value, str) and not _DAY.fullmatch(value):
        raise ValueError("a day is written as 2026-11-30")
    return value


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("a NUL character is no text")
    return text


Day = Annotated[date, BeforeValidator(_written_as_a_day)]
Name = Annotated[str, AfterValidator(_storable)]


async def usage_filters(
    user: Annotated[
        Name | None, Query(max_length=200, description="Only this person's; another's needs the role `finance`")
    ] = None,
    department: Annotated[Name | None, Query(max_length=500, description="Empty: people without one")] = None,
    model: Annotated[Name | None, Query(max_length=500)] = None,
) -> UsageFilters:
    return UsageFilters(user, department, model)


async def usage_query(
    identity: SignedIn,
    front: AnyFront,
    of: Annotated[UsageFilters, Depends(usage_filters)],
    first: Annotated[
        Day | None, Query(alias="from", description="First day that is counted; absent, the first of the month of `to`")
    ] = None,
    last: Annotated[Day | None, Query(alias="to", description="Last day that is counted; absent, today")] = None,
    bucket: Annotated[Bucket, Query(description="A week begins on Monday")] = "day",
    group_by: Annotated[list[Grouping] | None, Query(description="Repeatable; absent, everything together")] = None,
) -> UsageQuery:
    """Days are those of the business time zone. Raises UsageOfOthersError or ReversedPeriodError."""
    return await front.read_usage.question(identity, of, first=first, last=last, bucket=bucket, group_by=group_by or [])


AskedUsage = Annotated[UsageQuery, Depends(usage_query)]
