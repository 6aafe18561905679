"""The list contract for lists in memory, and cursors of rows that move."""

from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.storage.keyset import BadCursorError, Page, PageRequest, moving_cursor, page_of

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_ORDERS = st.sampled_from(["asc", "desc"])


def _page(items: list[str], **request: object) -> Page[str]:
    return page_of(items, str, PageRequest(**request))  # type: ignore[arg-type]


@pytest.mark.req("HTTP-7")
@given(st.lists(st.text(min_size=1), unique=True, max_size=12), st.integers(1, 5), _ORDERS)
def test_walking_forwards_and_backwards_meets_every_entry_once(
    items: list[str], limit: int, order: Literal["asc", "desc"]
) -> None:
    ordered = items if order == "asc" else items[::-1]
    found: list[str] = []
    page = _page(items, limit=limit, order=order)
    while True:
        found += page.items
        if not page.has_more:
            break
        page = _page(items, limit=limit, order=order, after=page.items[-1])
    assert found == ordered
    back: list[str] = list(page.items)
    while back and len(back) < len(ordered):
        page = _page(items, limit=limit, order=order, before=back[0])
        assert page.has_more == (len(back) + len(page.items) < len(ordered))
        back = [*page.items, *back]
    assert back == ordered


@pytest.mark.parametrize("request_", [PageRequest(after="x"), PageRequest(before="x")])
def test_a_cursor_of_no_entry_is_refused(request_: PageRequest) -> None:
    with pytest.raises(BadCursorError):
        page_of(["a", "b"], str, request_)


def test_a_moving_cursor_tells_microseconds_apart() -> None:
    at, row = datetime(2026, 11, 30, 12, tzinfo=UTC), UUID(int=1)
    assert moving_cursor(at, row) != moving_cursor(at + timedelta(microseconds=1), row)
