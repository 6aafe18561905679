"""The one list contract: keyset pages that stay stable while rows are inserted (docs/spec/http-api.md, HTTP-7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.errors import ClientError

Item = TypeVar("Item")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """`after` and `before` are cursors of the same list, as its client sent them; at most one of them is given."""

    limit: int = 20
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    items: tuple[Item, ...]
    has_more: bool


class BadCursorError(ClientError):
    """The cursor names no row of this list."""

    code = "bad_cursor"
    title = "The cursor names no entry of this list"


def moving_cursor(moved_at: datetime, row_id: UUID) -> str:
    """The cursor of a row that changes its place: it carries the place at which the row was seen."""
    return f"{row_id}.{(moved_at - _EPOCH) // _MICROSECOND}"


async def read_page(
    connection: AsyncConnection,
    statement: Select[Any],
    anchor: Select[Any],
    key: tuple[ColumnElement[Any], ColumnElement[Any]],
    page: PageRequest,
    *,
    moving: bool = False,
) -> tuple[Sequence[Row[Any]], bool]:
    """Rows in the asked order and whether more follow in the direction of travel. `key` ends with the row's id, a
    UUID or a text. With `moving` the first of the key is a time that changes, and cursors are `moving_cursor`s; a bare
    id then means the row's place now. Raises BadCursorError."""
    backwards = page.before is not None
    descending = (page.order == "desc") != backwards
    cursor = page.before or page.after
    if cursor is not None:
        seen = _seen_place(cursor) if moving and "." in cursor else await _place_now(connection, anchor, key, cursor)
        position = tuple_(*key)
        statement = statement.where(position < seen if descending else position > seen)
    ordered = statement.order_by(*(column.desc() if descending else column.asc() for column in key))
    rows = list(await connection.execute(ordered.limit(page.limit + 1)))
    has_more = len(rows) > page.limit
    rows = rows[: page.limit]
    return (rows[::-1] if backwards else rows), has_more


def page_of(items: Sequence[Item], id_of: Callable[[Item], str], page: PageRequest) -> Page[Item]:
    """The same contract for a short list in memory, whose own order is the ascending one. Raises BadCursorError."""
    ordered = items if page.order == "asc" else items[::-1]
    cursor = page.before or page.after
    places = {id_of(item): place for place, item in enumerate(ordered)}
    if cursor is not None and cursor not in places:
        raise BadCursorError
    if page.before is not None:
        end = places[page.before]
        start = max(0, end - page.limit)
        return Page(tuple(ordered[start:end]), start > 0)
    start = places[page.after] + 1 if page.after is not None else 0
    end = start + page.limit
    return Page(tuple(ordered[start:end]), end < len(ordered))


def _seen_place(cursor: str) -> tuple[datetime, UUID]:
    row_id, _, microseconds = cursor.partition(".")
    try:
        return _EPOCH + timedelta(microseconds=int(microseconds)), UUID(row_id)
    except (ValueError, OverflowError):
        raise BadCursorError from None


async def _place_now(
    connection: AsyncConnection,
    anchor: Select[Any],
    key: tuple[ColumnElement[Any], ColumnElement[Any]],
    cursor: str,
) -> tuple[Any, ...]:
    try:
        row_id = key[1].type.python_type(cursor)
    except ValueError:
        raise BadCursorError from None
    values = (await connection.execute(anchor.where(key[1] == row_id))).one_or_none()
    if values is None:
        raise BadCursorError
    return tuple(values)
