"""Buckets of days, and cursors that stand for a place in an answer of usage."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.domain.usage_query import Bucket, UsageQuery, days_of, ordered
from services.chat_api.storage.keyset import BadCursorError
from services.chat_api.storage.usage_places import cursor_of, place_of

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60)


@pytest.mark.parametrize(
    ("bucket", "start", "days"),
    [
        ("day", "2026-11-30", ("2026-11-30", "2026-11-30")),
        ("week", "2026-11-23", ("2026-11-23", "2026-11-29")),
        ("week", "2026-10-26", ("2026-10-28", "2026-11-01")),
        ("month", "2026-10-01", ("2026-10-28", "2026-10-31")),
        ("month", "2028-02-01", ("2028-02-01", "2028-02-29")),
        ("month", "2030-12-01", ("2030-12-01", "2030-12-02")),
        ("total", "2026-10-28", ("2026-10-28", "2030-12-02")),
    ],
)
def test_a_bucket_counts_its_days_within_the_period(bucket: Bucket, start: str, days: tuple[str, str]) -> None:
    query = UsageQuery(date(2026, 10, 28), date(2030, 12, 2), bucket)
    found = days_of(bucket, date.fromisoformat(start), query)
    assert tuple(str(day) for day in found) == days


def test_the_ends_of_the_calendar_are_days_like_others() -> None:
    query = UsageQuery(date.min, date.max, "week")
    assert days_of("week", date(9999, 12, 27), query) == (date(9999, 12, 27), date.max)
    assert days_of("month", date(9999, 12, 1), query) == (date(9999, 12, 1), date.max)


def test_groupings_are_in_one_order_and_each_once() -> None:
    assert ordered(["model", "user", "model", "day"]) == ("day", "user", "model")


@pytest.mark.req("HTTP-7")
@given(st.dates(), _TEXTS, _TEXTS)
def test_a_cursor_gives_back_its_place(day: date, name: str, currency: str) -> None:
    cursor = cursor_of("day:user", (day, name, currency))
    assert cursor.isascii()
    assert place_of(cursor, "day:user", (date, str, str)) == (day, name, currency)
    for other in (f"{cursor}x", cursor[:-1], f"{cursor}=", cursor + "\u044e"):
        with pytest.raises(BadCursorError):
            place_of(other, "day:user", (date, str, str))


@pytest.mark.req("HTTP-7")
@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "0",
        "00000000-0000-0000-0000-000000000000",
        cursor_of("day:model", (date(2026, 1, 1), "m", "USD")),
        cursor_of("day:user", (date(2026, 1, 1), "anna")),
        cursor_of("day:user", ("yesterday", "anna", "USD")),
        cursor_of("day:user", (date(2026, 1, 1), "an\x00na", "USD")),
        "W10",
        "e30",
        "WyJkYXk6dXNlciIsIjIwMjYtMDEtMDEiLCJcdWQ4MDAiLCIiXQ",
        "WyJkYXk6dXNlciIsMSwyLDNd",
        "W1tb" * 40_000,
    ],
    ids=range(13),
)
def test_a_cursor_of_another_answer_or_of_none_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursorError):
        place_of(cursor, "day:user", (date, str, str))
