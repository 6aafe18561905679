"""The body of every list (docs/spec/http-api.md, HTTP-7), and how a page becomes one."""

from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel

from services.chat_api.storage.keyset import Page

Item = TypeVar("Item")
Body = TypeVar("Body", bound=BaseModel)


class ListBody(BaseModel, Generic[Body]):
    """`first_id` and `last_id` are the cursors for `before` and `after`; `has_more` looks the way it was asked."""

    object: Literal["list"] = "list"
    data: list[Body]
    first_id: str | None
    last_id: str | None
    has_more: bool


def list_body(page: Page[Item], body_of: Callable[[Item], Body], cursor_of: Callable[[Item], object]) -> ListBody[Body]:
    items = page.items
    return ListBody(
        data=[body_of(item) for item in items],
        first_id=str(cursor_of(items[0])) if items else None,
        last_id=str(cursor_of(items[-1])) if items else None,
        has_more=page.has_more,
    )
