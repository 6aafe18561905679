"""`GET /api/v1/usage`: whose usage, of which days, in which buckets and groups."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.support.events import make_usage
from tests.support.front import Person, RunningFront
from tests.support.rows import Rows
from tests.support.usage_calls import record_calls, sum_of_costs, usage_pages, walk_usage

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_NOVEMBER = {"start": "2026-11-01", "end": "2026-11-30"}


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest_asyncio.fixture
async def frank(front: RunningFront) -> AsyncIterator[Person]:
    async with front.person("frank") as person:
        yield person


@pytest_asyncio.fixture
async def calls(engine: AsyncEngine) -> None:
    """Anna's two calls for one answer, one of Hana's in another currency, and one that nobody knows the price of."""
    first = make_usage(
        cost="0.10", currency="EUR", input_tokens=100, cached_input_tokens=40, cache_write_tokens=10, output_tokens=20
    )
    second = first.model_copy(update={"provider_call": 2, "estimated": True})
    hana = make_usage(user_id="hana", department="People & HR", model="m-2", cost="0.0000000001", currency="USD")
    unknown = make_usage(user_id="hana", department=None, model="m-3", occurred_at=_at("2026-11-29T12:00:00"))
    await record_calls(engine, first, second, hana, unknown)


async def _rows(person: Person, **question: Any) -> list[dict[str, Any]]:
    return await walk_usage(person.client, **{**_NOVEMBER, **question})


async def test_finance_sees_everybody_in_buckets_of_days(frank: Person, calls: None) -> None:
    assert [(row["from"], row["to"], row["currency"], row["cost"]) for row in await _rows(frank)] == [
        ("2026-11-30", "2026-11-30", "USD", "0.0000000001"),
        ("2026-11-30", "2026-11-30", "EUR", "0.2"),
        ("2026-11-29", "2026-11-29", None, None),
    ]
    (euro,) = [row for row in await _rows(frank, bucket="total") if row["currency"] == "EUR"]
    assert {name: euro[name] for name in ("calls", "answers", "estimated_calls", "unpriced_calls")} == {
        "calls": 2,
        "answers": 1,
        "estimated_calls": 1,
        "unpriced_calls": 0,
    }
    assert [euro[f"{kind}_tokens"] for kind in ("input", "cached_input", "cache_write", "output", "reasoning")] == [
        *(200, 80, 20, 40, 0)
    ]
    assert euro["cached_share"] == 0.4
    assert [euro[name] for name in ("day", "user", "department", "provider", "model")] == [None] * 5


async def test_everybody_else_sees_their_own_only(anna: Person, hana: Person, frank: Person, calls: None) -> None:
    assert {row["user"] for row in await _rows(anna, group_by="user")} == {"anna"}
    assert sum(row["calls"] for row in await _rows(hana)) == 2
    assert {row["model"] for row in await _rows(hana, user="hana", group_by="model")} == {"m-2", "m-3"}
    assert await _rows(hana, department="Engineering") == []
    refusals = []
    for user in ("hana", "nobody", ""):
        for path in ("/api/v1/usage", "/api/v1/usage/export"):
            asked = await anna.client.get(path, params={"user": user, "format": "csv"})
            assert (asked.status_code, asked.json()["code"]) == (403, "usage_of_others")
            refusals.append({name: text for name, text in asked.json().items() if name != "instance"})
    assert all(one == refusals[0] for one in refusals)
    assert {row["user"] for row in await _rows(frank, user="hana", group_by="user")} == {"hana"}


async def test_groups_and_filters_go_together(frank: Person, calls: None) -> None:
    found = await _rows(frank, bucket="total", group_by=["model", "department", "user", "provider", "day"])
    assert [(row["day"], row["user"], row["department"], row["provider"], row["model"]) for row in found] == [
        ("2026-11-30", "hana", "People & HR", "scripted", "m-2"),
        ("2026-11-30", "anna", "Engineering", "scripted", "m-1"),
        ("2026-11-29", "hana", None, "scripted", "m-3"),
    ]
    assert len({row["id"] for row in found}) == 3
    (nowhere,) = await _rows(frank, department="", group_by="department", bucket="month")
    assert (nowhere["department"], nowhere["unpriced_calls"], nowhere["cost"]) == (None, 1, None)
    assert await _rows(frank, model="m-2", user="anna") == []


async def test_weeks_begin_on_monday_and_count_only_what_was_asked(frank: Person, engine: AsyncEngine) -> None:
    for day in ("2026-11-01", "2026-11-02", "2026-11-08", "2026-11-09", "2026-12-01"):
        await record_calls(engine, make_usage(occurred_at=_at(f"{day}T12:00:00")))
    weeks = [
        (row["from"], row["to"], row["calls"])
        for row in await _rows(frank, bucket="week", order="asc", end="2026-12-01")
    ]
    assert weeks == [
        ("2026-11-01", "2026-11-01", 1),
        ("2026-11-02", "2026-11-08", 2),
        ("2026-11-09", "2026-11-15", 1),
        ("2026-11-30", "2026-12-01", 1),
    ]
    months = [(row["from"], row["to"], row["calls"]) for row in await _rows(frank, bucket="month", end="2026-12-01")]
    assert months == [("2026-12-01", "2026-12-01", 1), ("2026-11-01", "2026-11-30", 4)]
    (total,) = await _rows(frank, bucket="total", start="0001-01-01", end="9999-12-31")
    assert (total["from"], total["to"], total["calls"]) == ("0001-01-01", "9999-12-31", 5)


async def test_days_are_those_of_the_business_also_when_clocks_change(
    frank: Person, engine: AsyncEngine, rows: Rows
) -> None:
    await rows.run("UPDATE signals.business_time_zone SET name = 'Europe/Berlin'")
    # 25 October 2026 has 25 hours there: from 22:00 UTC of the day before to 23:00 UTC.
    start = _at("2026-10-24T21:30:00")
    hours = [make_usage(occurred_at=start + timedelta(hours=hour)) for hour in range(27)]
    await record_calls(engine, *hours)
    found = await walk_usage(frank.client, start="2026-10-01", end="2026-10-31", order="asc")
    assert [(row["from"], row["calls"]) for row in found] == [("2026-10-24", 1), ("2026-10-25", 25), ("2026-10-26", 1)]
    scope = (await frank.client.get("/api/v1/usage/scope")).json()
    assert (scope["time_zone"], scope["first_day"], scope["last_day"]) == ("Europe/Berlin", "2026-10-24", "2026-10-26")


async def test_without_a_period_it_is_the_month_to_date(frank: Person, engine: AsyncEngine, rows: Rows) -> None:
    today = (await frank.client.get("/api/v1/usage/scope")).json()["today"]
    (total,) = await walk_usage_of_today(frank, engine)
    assert (total["from"], total["to"]) == (f"{today[:8]}01", today)
    earlier = (await frank.client.get("/api/v1/usage", params={"to": "2026-02-17", "bucket": "total"})).json()
    assert earlier["data"] == []


async def walk_usage_of_today(frank: Person, engine: AsyncEngine) -> list[dict[str, Any]]:
    await record_calls(engine, make_usage(occurred_at=datetime.now(UTC)))
    return await walk_usage(frank.client, bucket="total")


async def test_a_scope_says_who_sees_whom(anna: Person, frank: Person, calls: None) -> None:
    own = (await anna.client.get("/api/v1/usage/scope")).json()
    everybody = (await frank.client.get("/api/v1/usage/scope")).json()
    assert (own["everyone"], own["first_day"]) == (False, "2026-11-30")
    assert (everybody["everyone"], everybody["first_day"]) == (True, "2026-11-29")


@pytest.mark.req("HTTP-6")
@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({"from": "2026-02-30"}, "invalid_request"),
        ({"from": "yesterday"}, "invalid_request"),
        ({"to": "1700000000"}, "invalid_request"),
        ({"to": "2026-11-30T00:00:00"}, "invalid_request"),
        ({"from": "20261101"}, "invalid_request"),
        ({"from": ""}, "invalid_request"),
        ({"from": "2026-12-01", "to": "2026-11-30"}, "reversed_period"),
        ({"group_by": "colour"}, "invalid_request"),
        ({"group_by": ["user", ""]}, "invalid_request"),
        ({"bucket": "year"}, "invalid_request"),
        ({"model": "a\x00b"}, "invalid_request"),
        ({"user": "x" * 201}, "invalid_request"),
    ],
    ids=range(12),
)
async def test_a_question_that_means_nothing_is_refused_and_says_why(
    frank: Person, question: dict[str, Any], code: str
) -> None:
    for path in ("/api/v1/usage", "/api/v1/usage/export"):
        response = await frank.client.get(path, params={**question, "format": "csv"})
        assert (response.status_code, response.json()["code"]) == (422, code), response.text
        assert response.headers["content-type"] == "application/problem+json"
        field = next(iter(question))
        assert code == "reversed_period" or field in response.json()["detail"]


@pytest.mark.req("HTTP-7")
async def test_pages_stay_whole_while_calls_come_in(frank: Person, engine: AsyncEngine) -> None:
    people = [f"person-{number:02}" for number in range(20)]
    await record_calls(engine, *(make_usage(user_id=one, cost="0.1", currency="EUR") for one in people))
    seen: list[dict[str, Any]] = []
    async for page in usage_pages(frank.client, 3, **_NOVEMBER, group_by="user", order="asc"):
        seen += page
        # One before the place that was reached, and one more call of somebody who was seen already.
        await record_calls(engine, make_usage(user_id=f"early-{len(seen):02}"), make_usage(user_id=people[0]))
    names = [row["user"] for row in seen if row["currency"]]
    assert names == people
    assert sum_of_costs(seen, "EUR") == 2


@pytest.mark.req("HTTP-7")
async def test_a_cursor_of_another_question_is_a_bad_one(frank: Person, calls: None) -> None:
    november = {"from": "2026-11-01", "to": "2026-11-30"}
    by_user = (await frank.client.get("/api/v1/usage", params={**november, "group_by": "user"})).json()["last_id"]
    assert by_user
    response = await frank.client.get("/api/v1/usage", params={"group_by": "model", "after": by_user})
    assert (response.status_code, response.json()["code"]) == (400, "bad_cursor")
