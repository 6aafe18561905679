"""What a BI tool sees: stable views, through a role that can read nothing else and write nothing."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.storage.usage import apply_usage
from shared.database.migrate import downgrade_schema, upgrade_schema
from shared.database.migrations import versions
from tests.support.events import make_usage
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]

# How many rows three calls come to, two of them in one month.
_VIEWS = {"usage_calls": 3, "usage_daily": 3, "usage_monthly": 2, "focus_1_3": 3}
_DAILY = (
    "day user_id department provider model currency input_tokens cached_input_tokens cache_write_tokens "
    "output_tokens reasoning_tokens cost calls unpriced_calls estimated_calls answers"
)
_CALLS = (
    "call_id answer_id provider_call occurred_at day user_id department provider model input_tokens "
    "cached_input_tokens cache_write_tokens output_tokens reasoning_tokens estimated cost currency"
)
_ROLE_STATEMENTS = [
    statement
    for statement in (Path(versions.__file__).parent / "0007_usage.sql").read_text(encoding="utf-8").split("\n\n")
    if "ROLE finance_reader" in statement or "TO finance_reader" in statement
]


async def _use_calls(engine: AsyncEngine) -> None:
    calls = [
        make_usage(occurred_at=datetime(2026, 10, 31, 23, 30, tzinfo=UTC), cost="0.10", currency="EUR"),
        make_usage(occurred_at=datetime(2026, 11, 15, 12, tzinfo=UTC), cost="0.25", currency="EUR"),
        make_usage(occurred_at=datetime(2026, 11, 15, 12, tzinfo=UTC), department=None),
    ]
    async with engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE signals.business_time_zone SET name = 'Europe/Berlin'")
        await apply_usage(connection, calls)


@pytest.mark.req("MESH-13")
@pytest.mark.parametrize("view", _VIEWS)
async def test_the_finance_role_reads_every_view(engine: AsyncEngine, rows: Rows, view: str) -> None:
    await _use_calls(engine)
    await rows.run("SET ROLE finance_reader")
    assert await rows.count(f"finance.{view}") == _VIEWS[view]


@pytest.mark.req("MESH-13")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM chat.messages",
        "SELECT * FROM signals.usage",
        "SELECT * FROM signals.usage_daily",
        "SELECT * FROM mesh.outbox",
        "SELECT * FROM traces.retrievals",
        "UPDATE finance.usage_daily SET calls = 0",
        "DELETE FROM finance.usage_calls",
        "INSERT INTO finance.usage_calls (user_id) VALUES ('mallory')",
        "CREATE TABLE finance.mine (x int)",
        "CREATE VIEW finance.mine AS SELECT 1",
        "DROP VIEW finance.usage_daily",
    ],
    ids=lambda statement: statement[:30],
)
async def test_the_finance_role_reads_nothing_else_and_writes_nothing(rows: Rows, statement: str) -> None:
    await rows.run("SET ROLE finance_reader")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await rows.run(statement)


@pytest.mark.req("MESH-13")
@pytest.mark.parametrize(("view", "columns"), [("usage_daily", _DAILY), ("usage_calls", _CALLS)])
async def test_columns_of_views_stay_as_they_are(rows: Rows, view: str, columns: str) -> None:
    """A column may be added at the end; these are what BI tools rely on."""
    found = await rows.all(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'finance' AND table_name = $1 "
        "ORDER BY ordinal_position",
        view,
    )
    assert " ".join(row["column_name"] for row in found).startswith(columns)


async def test_every_view_and_every_figure_says_what_it_is(rows: Rows) -> None:
    bare = await rows.all(
        "SELECT c.relname FROM pg_class c WHERE relnamespace = 'finance'::regnamespace "
        "AND obj_description(c.oid, 'pg_class') IS NULL"
    )
    assert bare == []
    told = await rows.one(
        "SELECT col_description('finance.usage_daily'::regclass, attnum) FROM pg_attribute "
        "WHERE attrelid = 'finance.usage_daily'::regclass AND attname = 'cost'"
    )
    assert "not nothing" in told


@pytest.mark.req("MESH-13")
async def test_months_follow_the_business_time_zone_and_unknown_costs_stay_unknown(
    engine: AsyncEngine, rows: Rows
) -> None:
    await _use_calls(engine)
    months = await rows.all("SELECT month, department, cost, currency, unpriced_calls FROM finance.usage_monthly")
    assert sorted(months, key=str) == [
        {
            "month": date(2026, 11, 1),
            "department": "Engineering",
            "cost": Decimal("0.35"),
            "currency": "EUR",
            "unpriced_calls": 0,
        },
        {"month": date(2026, 11, 1), "department": None, "cost": None, "currency": None, "unpriced_calls": 1},
    ]


@pytest.mark.req("MESH-13")
async def test_a_charge_period_is_a_day_of_the_business_time_zone(engine: AsyncEngine, rows: Rows) -> None:
    await _use_calls(engine)
    [charge] = await rows.all('SELECT * FROM finance.focus_1_3 WHERE "BilledCost" = 0.10')
    assert charge["ChargePeriodStart"] == datetime(2026, 10, 31, 23, tzinfo=UTC)
    assert charge["ChargePeriodEnd"] == datetime(2026, 11, 1, 23, tzinfo=UTC)
    assert charge["BillingPeriodStart"] == datetime(2026, 10, 31, 23, tzinfo=UTC)
    assert charge["BillingPeriodEnd"] == datetime(2026, 11, 30, 23, tzinfo=UTC)
    assert (charge["BillingCurrency"], charge["ChargeCategory"]) == ("EUR", "Usage")
    assert (charge["x_UserId"], charge["x_Model"], charge["x_InputTokens"]) == ("anna", "m-1", 10)


async def test_calls_from_before_are_counted_when_the_sums_come(fresh_database_url: str) -> None:
    await upgrade_schema(fresh_database_url, "0006")
    async with Rows.of(fresh_database_url) as rows:
        await rows.run(
            "INSERT INTO signals.usage (event_id, message_id, provider_call, user_id, provider, model, input_tokens, "
            "cached_input_tokens, output_tokens, estimated, occurred_at) SELECT gen_random_uuid(), gen_random_uuid(), "
            "1 + n % 2, 'anna', 'p', 'm', 10, 4, 5, false, '2026-11-30 12:00+00' FROM generate_series(1, 6) AS n"
        )
    await upgrade_schema(fresh_database_url)
    async with Rows.of(fresh_database_url) as rows:
        [day] = await rows.all("SELECT day, calls, answers, input_tokens, unpriced_calls FROM finance.usage_daily")
    assert tuple(day.values()) == (date(2026, 11, 30), 6, 3, 60, 6)
    await downgrade_schema(fresh_database_url, "0006")
    async with Rows.of(fresh_database_url) as rows:
        assert await rows.count("signals.usage") == 6


async def test_a_database_user_who_may_not_create_roles_still_migrates(
    database_url: str, fresh_database_url: str
) -> None:
    """The role belongs to the whole server, so another name stands in for one that is not there."""
    async with Rows.of(fresh_database_url) as owner:
        name = await owner.one("SELECT current_database()")
        modest = f"modest_{name}"
        await owner.run(f"CREATE ROLE {modest} LOGIN PASSWORD 'modest'")
        await owner.run(f'GRANT CREATE ON DATABASE "{name}" TO {modest}')
        await owner.run(f"GRANT CREATE ON SCHEMA public TO {modest}")
    heard: list[str] = []
    try:
        url = f"postgresql://{modest}:modest@{fresh_database_url.split('@', 1)[1]}"
        await upgrade_schema(url)
        connection = await asyncpg.connect(url)
        connection.add_log_listener(lambda _connection, message: heard.append(message.message))
        for statement in _ROLE_STATEMENTS:
            await connection.execute(statement.replace("finance_reader", f"reader_{name}"))
        await connection.close()
    finally:
        async with Rows.of(fresh_database_url) as owner:
            await owner.run(f"DROP OWNED BY {modest} CASCADE")
            await owner.run(f"DROP ROLE {modest}")
    assert ["may not create roles" in message for message in heard] == [True]


@pytest.mark.req("MESH-13")
async def test_the_queries_of_the_handbook_run_as_the_finance_role(engine: AsyncEngine, rows: Rows) -> None:
    await _use_calls(engine)
    handbook = (Path(__file__).parents[3] / "docs" / "finance.md").read_text(encoding="utf-8")
    queries = [block for block in re.findall(r"```sql\n(.*?)```", handbook, re.DOTALL) if block.startswith("SELECT")]
    assert len(queries) == 3
    await rows.run("SET ROLE finance_reader")
    for query in queries:
        await rows.all(query)
