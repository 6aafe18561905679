"""What finance takes away: the same figures as the list, exact to the last digit, as CSV, Parquet and FOCUS 1.3."""

import asyncio
import csv
import io
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import pytest_asyncio
from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.focus_columns import FOCUS_COLUMNS
from shared.events import UsageRecorded
from tests.support.events import make_usage
from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel
from tests.support.usage_calls import record_calls, sum_of_costs, usage_file, walk_usage
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_AUTUMN = {"start": "2026-09-01", "end": "2026-11-30"}
_HOSTILE = ("=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", 'quoted", "and;=1', "two\r\nlines", "研发中心", None)
# FOCUS 1.3, "Cost and Usage": what a dataset must have whatever its provider offers.
_MANDATORY = {
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd"),
    *("BillingPeriodStart", "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargePeriodEnd"),
    *("ChargePeriodStart", "ContractedCost", "EffectiveCost", "HostProviderName", "InvoiceIssuerName", "ListCost"),
    *("PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName"),
    "ServiceProviderName",
}
_STANDARD_COLUMNS = 65


@pytest_asyncio.fixture
async def front(database_url: str, nats_url: str, redis_url: str) -> AsyncIterator[RunningFront]:
    settings = make_front_settings(database_url, nats_url, redis_url, "http://127.0.0.1:1")
    async with running_front(settings, ScriptedModel()) as running:
        yield running


@pytest_asyncio.fixture
async def frank(front: RunningFront) -> AsyncIterator[Person]:
    async with front.person("frank") as person:
        yield person


@pytest_asyncio.fixture
async def autumn(engine: AsyncEngine) -> list[UsageRecorded]:
    """Some hundred calls with costs of ten decimals, in two currencies and without a price, of hostile departments."""
    chance = random.Random(13)
    calls = [_call(chance) for _ in range(400)]
    await record_calls(engine, *calls)
    return calls


def _call(chance: random.Random) -> UsageRecorded:
    currency = chance.choice(("EUR", "USD", None))
    given = chance.randrange(1, 9_000)
    return make_usage(
        occurred_at=datetime(2026, 9, 1, tzinfo=UTC) + timedelta(minutes=chance.randrange(91 * 24 * 60)),
        user_id=f"person-{chance.randrange(20)}",
        department=chance.choice(_HOSTILE),
        model=chance.choice(("m-1", "=m-2")),
        provider_call=chance.randrange(1, 3),
        input_tokens=given,
        cached_input_tokens=chance.randrange(given),
        output_tokens=chance.randrange(900),
        cost=Decimal(chance.randrange(10**12)) / 10**10 if currency else None,
        currency=currency,
    )


def _csv(response: httpx.Response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))


def _parquet(response: httpx.Response) -> pa.Table:
    return pq.read_table(io.BytesIO(response.content))


@pytest.mark.req("MESH-13")
@pytest.mark.parametrize(
    "question",
    [
        {"bucket": "day"},
        {"bucket": "total", "group_by": "department"},
        {"bucket": "month", "group_by": ["user", "model"]},
        {"bucket": "week", "group_by": ["department", "day", "provider"], "model": "=m-2"},
    ],
    ids=["day", "department", "month", "week"],
)
async def test_list_csv_and_parquet_are_the_same_rows_and_add_up_to_the_calls(
    frank: Person, autumn: list[UsageRecorded], question: dict[str, Any]
) -> None:
    asked = {**_AUTUMN, **question}
    listed = await walk_usage(frank.client, order="asc", limit=37, **asked)
    written = _csv(await usage_file(frank.client, "csv", **asked))
    table = _parquet(await usage_file(frank.client, "parquet", **asked)).to_pylist()
    assert len(listed) == len(written) == len(table) > 5
    calls = [one for one in autumn if question.get("model") in (None, one.model)]
    for currency in ("EUR", "USD"):
        recount = sum((one.cost for one in calls if one.cost and one.currency == currency), Decimal(0))
        assert sum_of_costs(listed, currency) == sum_of_costs(written, currency) == recount
        assert sum((row["cost"] for row in table if row["currency"] == currency), Decimal(0)) == recount
    for row, line, cells in zip(listed, written, table, strict=True):
        assert (row["cost"] or "") == line["cost"]
        assert (Decimal(row["cost"]) if row["cost"] else None) == cells["cost"]
        assert [str(row[name]) for name in ("from", "to", "calls", "answers", "input_tokens", "output_tokens")] == [
            line[name] for name in ("from", "to", "calls", "answers", "input_tokens", "output_tokens")
        ]
        assert row.get("department") == cells.get("department")
        assert cells["from"].isoformat() == row["from"]
    assert sum(row["unpriced_calls"] for row in listed) == sum(one.cost is None for one in calls)
    assert sum(int(line["calls"]) for line in written) == len(calls)


@pytest.mark.req("MESH-13")
async def test_a_csv_holds_no_formula_of_anybody(frank: Person, autumn: list[UsageRecorded]) -> None:
    asked = {**_AUTUMN, "bucket": "total", "group_by": ["department", "model"]}
    for export_format in ("csv", "focus-csv"):
        response = await usage_file(frank.client, export_format, **asked)
        assert response.headers["content-type"] == "text/csv; charset=utf-8; header=present"
        lines = _csv(response)
        assert not [cell for line in lines for cell in line.values() if cell[:1] in "=+-@\t\r" and cell[:1]]
        departments = {line.get("department", line.get("x_Department")) for line in lines}
        assert {"'=cmd|' /C calc'!A0", "'+1", "two\r\nlines", "研发中心", ""} <= departments
    response = await usage_file(frank.client, "parquet", **asked)
    assert set(_parquet(response).column("department").to_pylist()) == set(_HOSTILE)


@pytest.mark.req("MESH-13")
async def test_the_columns_are_those_of_focus_1_3_and_of_the_view(frank: Person, rows: Rows) -> None:
    names = [column.name for column in FOCUS_COLUMNS]
    standard = [name for name in names if not name.startswith("x_")]
    assert len(standard) == _STANDARD_COLUMNS
    assert set(standard) >= _MANDATORY
    assert names == sorted(standard) + names[len(standard) :]
    view = await rows.all(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'finance' AND table_name = 'focus_1_3'"
    )
    assert {one["column_name"] for one in view} == set(names)
    header = (await usage_file(frank.client, "focus-csv", **_AUTUMN)).text.splitlines()
    assert header == [",".join(names)]
    assert _parquet(await usage_file(frank.client, "focus-parquet", **_AUTUMN)).column_names == names


@pytest.mark.req("MESH-13")
async def test_focus_files_hold_every_day_of_everybody(frank: Person, autumn: list[UsageRecorded], rows: Rows) -> None:
    await rows.run("UPDATE signals.business_time_zone SET name = 'Europe/Berlin'")
    table = _parquet(await usage_file(frank.client, "focus-parquet", **_AUTUMN))
    lines = _csv(await usage_file(frank.client, "focus-csv", **_AUTUMN))
    assert table.num_rows == len(lines) == await rows.count("signals.usage_daily")
    assert table.schema.field("BilledCost").type == pa.decimal128(38, 10)
    assert table.schema.field("ChargePeriodStart").type == pa.timestamp("us", tz="UTC")
    assert table.schema.metadata[b"focus.version"] == b"1.3"
    for currency in ("EUR", "USD"):
        recount = sum((one.cost for one in autumn if one.cost and one.currency == currency), Decimal(0))
        found = [row for row in table.to_pylist() if row["BillingCurrency"] == currency]
        for name in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost"):
            assert sum(row[name] for row in found) == recount
        assert sum(Decimal(line["BilledCost"]) for line in lines if line["BillingCurrency"] == currency) == recount
    unknown = [row for row in table.to_pylist() if row["BillingCurrency"] is None]
    assert {row["BilledCost"] for row in unknown} == {None}
    assert sum(row["x_UnpricedCalls"] for row in unknown) == sum(one.cost is None for one in autumn)
    (first, *_) = table.to_pylist()
    # Midnight in Berlin: two hours before that of UTC in summer.
    assert first["ChargePeriodStart"] == datetime(2026, 8, 31, 22, tzinfo=UTC)
    assert lines[0]["ChargePeriodStart"] == "2026-08-31T22:00:00Z"
    assert first["ConsumedQuantity"] == first["x_InputTokens"] + first["x_OutputTokens"]


@pytest.mark.req("MESH-13")
async def test_files_hold_ones_own_usage_only_and_keep_to_the_filters(
    front: RunningFront, frank: Person, engine: AsyncEngine
) -> None:
    await record_calls(engine, make_usage(), make_usage(user_id="hana", department=None, model="m-2"))
    async with front.person("anna") as anna:
        for export_format, name in (("csv", "user"), ("focus-csv", "x_UserId")):
            lines = _csv(await usage_file(anna.client, export_format, **_AUTUMN, group_by="user"))
            assert {line[name] for line in lines} == {"anna"}
    for filters in ({"user": "hana"}, {"department": ""}, {"model": "m-2"}):
        lines = _csv(await usage_file(frank.client, "focus-csv", **_AUTUMN, **filters))
        assert [line["x_UserId"] for line in lines] == ["hana"]


async def test_a_file_is_called_after_its_days(frank: Person) -> None:
    for export_format, name in (("parquet", "achilles-usage"), ("focus-csv", "achilles-focus-1.3")):
        response = await usage_file(frank.client, export_format, **_AUTUMN)
        ending = export_format.removeprefix("focus-")
        expected = f'attachment; filename="{name}-2026-09-01-to-2026-11-30.{ending}"'
        assert response.headers["content-disposition"] == expected
    refused = await frank.client.get("/api/v1/usage/export", params={"format": "xlsx"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


async def test_files_asked_for_at_once_are_each_whole(frank: Person, autumn: list[UsageRecorded]) -> None:
    asked = {**_AUTUMN, "bucket": "day", "group_by": ["user", "model"]}
    files = await asyncio.gather(*(usage_file(frank.client, "csv", **asked) for _ in range(6)))
    assert len({file.content for file in files}) == 1


async def test_a_slow_reader_holds_no_session_of_the_database(frank: Person, rows: Rows) -> None:
    await rows.run(_MANY_DAYS)
    parameters = {"format": "focus-csv", "from": "2000-01-01", "to": "2026-11-30"}

    async def busy_sessions() -> list[int]:
        return [await rows.one(_BUSY_SESSIONS) for _ in range(20)]

    async with frank.client.stream("GET", "/api/v1/usage/export", params=parameters) as response:
        pieces = response.aiter_raw(1_000)
        await anext(pieces)
        # Once the buffers of the connection are full, the file goes on only when somebody reads.
        await eventually(busy_sessions, until=lambda counts: not any(counts), within=20)
        read = [len(piece) async for piece in pieces]
    # It was far from its end, so that there was something to hold a session for.
    assert sum(read) > 10_000_000


async def test_a_file_that_breaks_off_is_no_whole_file(frank: Person, rows: Rows) -> None:
    await rows.run(_MANY_DAYS)
    parameters = {"format": "focus-csv", "from": "2000-01-01", "to": "2026-11-30"}
    async with frank.client.stream("GET", "/api/v1/usage/export", params=parameters) as response:
        pieces = response.aiter_raw(1_000)
        await anext(pieces)
        await rows.run("ALTER VIEW finance.focus_1_3 RENAME TO away")
        with pytest.raises(httpx.RemoteProtocolError):
            [piece async for piece in pieces]


async def test_a_database_that_cannot_answer_is_told_before_a_file_begins(frank: Person, rows: Rows) -> None:
    await rows.run("ALTER VIEW finance.focus_1_3 RENAME TO away")
    response = await frank.client.get("/api/v1/usage/export", params={"format": "focus-csv"})
    assert (response.status_code, response.headers["content-type"]) == (500, "application/problem+json")


_MANY_DAYS = """
    INSERT INTO signals.usage_daily (day, user_id, department, provider, model, currency, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, calls, estimated_calls, answers)
    SELECT day::date, 'person-' || person, repeat('x', 200), 'p', 'm', 'EUR', 1, 0, 0, 1, 0, 0.1, 1, 0, 1
    FROM generate_series('2020-01-01'::date, '2020-12-31', '1 day') AS day, generate_series(1, 60) AS person
"""
_BUSY_SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = "
    "'achilles-chat-api' AND (state <> 'idle') AND query LIKE '%focus%'"
)
