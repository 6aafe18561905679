"""The one list contract: keyset pages that stay stable while rows are inserted (docs/spec/http-api.md, HTTP-7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """`after` and `before` are ids of rows of the same list; at most one of them is given."""

    limit: int = 20
    order: Literal["asc", "desc"] = "desc"
    after: UUID | None = None
    before: UUID | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    items: tuple[Item, ...]
    has_more: bool


class BadCursorError(Exception):
    """The cursor names no row of this list."""


async def read_page(
    connection: AsyncConnection,
    statement: Select[Any],
    anchor: Select[Any],
    key: tuple[ColumnElement[Any], ColumnElement[UUID]],
    page: PageRequest,
) -> tuple[Sequence[Row[Any]], bool]:
    """Rows in the asked order and whether more follow in the direction of travel. `key` ends with the row's id."""
    backwards = page.before is not None
    descending = (page.order == "desc") != backwards
    cursor = page.before or page.after
    if cursor is not None:
        values = (await connection.execute(anchor.where(key[1] == cursor))).one_or_none()
        if values is None:
            raise BadCursorError
        position = tuple_(*key)
        statement = statement.where(position < tuple(values) if descending else position > tuple(values))
    ordered = statement.order_by(*(column.desc() if descending else column.asc() for column in key))
    rows = list(await connection.execute(ordered.limit(page.limit + 1)))
    has_more = len(rows) > page.limit
    rows = rows[: page.limit]
    return (rows[::-1] if backwards else rows), has_more
