"""Usage as finance reads it: sums of the daily rollup, page by page."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Date, DateTime, Row, Select, cast, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.usage_query import Bucket, Grouping, UsageQuery, days_of
from services.chat_api.domain.usage_row import UsageRow
from services.chat_api.storage.keyset import Page, PageRequest
from services.chat_api.storage.usage_places import Place, cursor_of, place_of
from shared.database.tables.usage import usage_daily

# The rollup cannot hold NULL in its key: calls without a known price stand under this currency.
_UNPRICED = ""
_NO_DEPARTMENT = ""
_GROUPS: dict[Grouping, ColumnElement[Any]] = {
    "day": usage_daily.c.day,
    "user": usage_daily.c.user_id,
    "department": usage_daily.c.department,
    "provider": usage_daily.c.provider,
    "model": usage_daily.c.model,
}
_COUNTS = (
    "calls",
    "estimated_calls",
    "answers",
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)


async def list_usage(connection: AsyncConnection, query: UsageQuery, page: PageRequest) -> Page[UsageRow]:
    """By bucket, then by what is grouped, then by currency; newest bucket first unless asked the other way round.
    Raises BadCursorError."""
    keys = _keys(query)
    backwards = page.before is not None
    descending = (page.order == "desc") != backwards
    statement = _sums(query, keys)
    cursor = page.before or page.after
    if cursor is not None:
        place = place_of(cursor, query.shape, [_kind(key) for key in keys])
        position, seen = tuple_(*keys), tuple_(*place)
        statement = statement.where(position < seen if descending else position > seen)
        statement = _skip_days(statement, query, place, descending=descending)
    statement = statement.order_by(*(key.desc() if descending else key.asc() for key in keys)).limit(page.limit + 1)
    rows = list(await connection.execute(statement))
    has_more = len(rows) > page.limit
    rows = rows[: page.limit]
    return Page(tuple(_row(query, row) for row in (rows[::-1] if backwards else rows)), has_more)


def usage_cursor(query: UsageQuery, row: UsageRow) -> str:
    """The cursor of a row of this query's answer, unique in it."""
    place: list[date | str] = [row.bucket] if query.bucket != "total" else []
    for name in query.group_by:
        place.append(row.day or row.first if name == "day" else getattr(row, name) or _NO_DEPARTMENT)
    return cursor_of(query.shape, [*place, row.currency or _UNPRICED])


def _keys(query: UsageQuery) -> list[ColumnElement[Any]]:
    bucket = [] if query.bucket == "total" else [_bucket(query.bucket)]
    return [*bucket, *(_GROUPS[name] for name in query.group_by), usage_daily.c.currency]


def _bucket(bucket: Bucket) -> ColumnElement[Any]:
    """Its first day; a week begins on Monday."""
    if bucket == "day":
        return usage_daily.c.day
    return cast(func.date_trunc(bucket, cast(usage_daily.c.day, DateTime())), Date())


def _sums(query: UsageQuery, keys: Sequence[ColumnElement[Any]]) -> Select[Any]:
    named = [key.label(f"key_{place}") for place, key in enumerate(keys)]
    counts = [cast(func.sum(usage_daily.c[name]), BigInteger()).label(name) for name in _COUNTS]
    statement = select(*named, func.sum(usage_daily.c.cost).label("cost"), *counts)
    statement = statement.where(usage_daily.c.day.between(query.first, query.last)).group_by(*keys)
    of = query.of
    for column, wanted in (("user_id", of.user), ("department", of.department), ("model", of.model)):
        if wanted is not None:
            statement = statement.where(usage_daily.c[column] == wanted)
    return statement


def _skip_days(statement: Select[Any], query: UsageQuery, place: Place, *, descending: bool) -> Select[Any]:
    """Days that the cursor has passed are not even read: the comparison of places alone uses no index."""
    start = place[0]
    if query.bucket == "total" or not isinstance(start, date):
        return statement
    first, last = days_of(query.bucket, start, query)
    return statement.where(usage_daily.c.day <= last if descending else usage_daily.c.day >= first)


def _kind(key: ColumnElement[Any]) -> type:
    return date if isinstance(key.type, Date) else str


def _row(query: UsageQuery, row: Row[*tuple[Any, ...]]) -> UsageRow:
    values = list(row)
    bucket = query.first if query.bucket == "total" else values.pop(0)
    groups = {name: values.pop(0) for name in query.group_by}
    currency = values.pop(0) or None
    first, last = days_of(query.bucket, bucket, query)
    return UsageRow(
        bucket=bucket,
        first=first,
        last=last,
        day=groups.get("day"),
        user=groups.get("user"),
        department=groups.get("department") or None,
        provider=groups.get("provider"),
        model=groups.get("model"),
        currency=currency,
        cost=row.cost if currency else None,
        unpriced_calls=0 if currency else row.calls,
        **{name: getattr(row, name) for name in _COUNTS},
    )
