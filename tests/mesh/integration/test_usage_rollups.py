"""The sums of days equal a full recount at any time, whatever arrives twice, late, at once or at an odd hour."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid5

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.wiring import EFFECTS
from shared.database.engine import make_engine
from shared.events import UsageRecorded
from shared.messaging.delivery import Delivery, DeliveryService
from shared.messaging.envelope import body_of, headers_of
from shared.usage.recount import check_sums, set_sums_right
from tests.support.events import make_usage
from tests.support.rows import Rows
from tests.support.usage_oracle import counted_days, stored_days
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_SPACE = UUID("5b0e9c3e-6a60-4b43-9a0e-3f1c0f6c1c52")
# Clocks that go forward and back, by half an hour, at midnight of UTC and around it, and one with odd minutes.
_ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Asia/Beirut", "UTC")
_CLOCK_CHANGES = tuple(
    datetime.fromisoformat(moment).replace(tzinfo=UTC)
    for moment in (
        "2026-03-29T01:00",  # Berlin goes forward
        "2026-10-25T01:00",  # and back
        "2026-03-08T07:00",  # New York
        "2026-11-01T06:00",
        "2026-04-04T15:00",  # Lord Howe, by half an hour
        "2026-10-03T15:30",
        "2026-10-24T21:00",  # Beirut, from midnight back into the day before
        "2026-12-31T23:59",
    )
)
_COSTS = st.none() | st.decimals(min_value=0, max_value=10, places=10, allow_nan=False, allow_infinity=False)


@st.composite
def _calls(draw: st.DrawFn) -> UsageRecorded:
    cost = draw(_COSTS)
    tokens = draw(st.integers(0, 2**31 - 1) | st.integers(0, 500))
    near = draw(st.sampled_from(_CLOCK_CHANGES))
    return make_usage(
        message_id=uuid5(_SPACE, str(draw(st.integers(0, 10)))),
        provider_call=draw(st.integers(1, 3)),
        occurred_at=near + timedelta(minutes=draw(st.integers(-2_880, 2_880)), microseconds=draw(st.integers(0, 9))),
        user_id=draw(st.sampled_from(("anna", "ben"))),
        department=draw(st.sampled_from((None, "Finance", "Engineering"))),
        model=draw(st.sampled_from(("small-1", "large-1"))),
        input_tokens=tokens,
        cached_input_tokens=tokens // 2,
        cache_write_tokens=tokens // 4,
        output_tokens=tokens // 3,
        reasoning_tokens=tokens // 9,
        estimated=draw(st.booleans()),
        cost=cost,
        currency=None if cost is None else draw(st.sampled_from(("EUR", "USD"))),
    )


@st.composite
def _histories(draw: st.DrawFn) -> tuple[list[UsageRecorded], list[list[int]]]:
    """Calls, each once, and batches of their numbers: with repetitions, in any order, late ones among them."""
    drawn = draw(st.lists(_calls(), min_size=1, max_size=25))
    calls = list({call.event_id: call for call in drawn}.values())
    numbers = st.integers(0, len(calls) - 1)
    return calls, draw(st.lists(st.lists(numbers, min_size=1, max_size=30), min_size=1, max_size=8))


class _Workers:
    """Three workers, each with a session of its own."""

    def __init__(self, database_url: str, rows: Rows) -> None:
        self.rows = rows
        self.engine = make_engine(database_url, application_name="test", pool_size=4)
        self._service = DeliveryService(self.engine, "signal_worker", EFFECTS)

    async def clear(self, time_zone: str) -> None:
        await self.rows.run("TRUNCATE signals.usage, signals.usage_daily")
        await self.rows.run("UPDATE signals.business_time_zone SET name = $1", time_zone)

    async def deliver(self, calls: Sequence[UsageRecorded]) -> None:
        await self._service.deliver([_delivery(call) for call in calls])

    async def deliver_at_once(self, batches: Sequence[Sequence[UsageRecorded]]) -> None:
        await asyncio.gather(*(self.deliver(batch) for batch in batches))

    async def agree(self) -> bool:
        return (await check_sums(self.engine, _unseen)).agrees


def _delivery(call: UsageRecorded) -> Delivery:
    return Delivery(call.subject, body_of(call), headers_of(call, source="test"))


def _unseen(_done: int, _total: int) -> None:
    """Nobody watches the progress."""


@pytest.mark.req("MESH-12")
def test_sums_equal_a_full_recount_after_every_batch(database_url: str) -> None:
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(database_url))
        workers = _Workers(database_url, Rows(connection))

        async def play(calls: list[UsageRecorded], batches: list[list[int]], zone: str, at_once: bool) -> None:
            await workers.clear(zone)
            told: list[list[UsageRecorded]] = [[calls[number] for number in batch] for batch in batches]
            steps = (
                [told[start : start + 3] for start in range(0, len(told), 3)] if at_once else [[one] for one in told]
            )
            arrived: list[UsageRecorded] = []
            for step in steps:
                await workers.deliver_at_once(step)
                arrived += [call for batch in step for call in batch]
                assert await stored_days(workers.rows) == counted_days(arrived, zone)
                assert await workers.agree()

        @settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(_histories(), st.sampled_from(_ZONES), st.booleans())
        def run(history: tuple[list[UsageRecorded], list[list[int]]], zone: str, at_once: bool) -> None:
            runner.run(play(*history, zone, at_once))

        try:
            run()
        finally:
            runner.run(workers.engine.dispose())
            runner.run(connection.close())


@pytest.mark.req("MESH-12")
async def test_a_late_call_is_counted_on_its_own_day(engine: AsyncEngine, rows: Rows, database_url: str) -> None:
    workers = _Workers(database_url, rows)
    await workers.clear("Europe/Berlin")
    today = make_usage(occurred_at=datetime(2026, 11, 30, 12, tzinfo=UTC))
    late = make_usage(occurred_at=datetime(2026, 10, 24, 22, 30, tzinfo=UTC))
    await workers.deliver([today])
    await workers.deliver([late])
    found = await rows.all("SELECT day::text, answers FROM signals.usage_daily ORDER BY day")
    assert found == [{"day": "2026-10-25", "answers": 1}, {"day": "2026-11-30", "answers": 1}]
    await workers.engine.dispose()


@pytest.mark.req("MESH-12")
async def test_costs_add_up_to_the_last_digit_and_currencies_stay_apart(rows: Rows, database_url: str) -> None:
    workers = _Workers(database_url, rows)
    cost = Decimal("0.0000000001")
    await workers.deliver([make_usage(cost=cost, currency="EUR") for _ in range(30)])
    await workers.deliver([make_usage(cost=Decimal(1), currency="USD"), make_usage()])
    found = await rows.all(
        "SELECT currency, cost, calls, unpriced_calls FROM finance.usage_daily ORDER BY 1 NULLS LAST"
    )
    assert [tuple(row.values()) for row in found] == [
        ("EUR", Decimal("0.0000000030"), 30, 0),
        ("USD", Decimal(1), 1, 0),
        (None, None, 1, 1),
    ]
    await workers.engine.dispose()


@pytest.mark.req("MESH-12")
async def test_a_recount_finds_and_mends_what_is_wrong(engine: AsyncEngine, rows: Rows, database_url: str) -> None:
    workers = _Workers(database_url, rows)
    await workers.deliver([make_usage(user_id=f"user {number}") for number in range(5)])
    right = await stored_days(rows)
    await rows.run("UPDATE signals.usage_daily SET cost = cost + 0.01 WHERE user_id = 'user 0'")
    await rows.run("DELETE FROM signals.usage_daily WHERE user_id = 'user 1'")
    await rows.run("UPDATE signals.usage_daily SET user_id = 'nobody' WHERE user_id = 'user 2'")
    checked = await check_sums(engine, _unseen)
    assert (checked.calls, checked.rows) == (5, 5)
    assert (checked.wrong, checked.missing, checked.spare, checked.agrees) == (1, 2, 1, False)
    assert await stored_days(rows) != right
    mended = await set_sums_right(engine, _unseen)
    assert not mended.agrees
    assert await stored_days(rows) == right
    assert (await check_sums(engine, _unseen)).agrees
    await workers.engine.dispose()


@pytest.mark.req("MESH-12")
async def test_workers_wait_for_a_recount_into_another_zone_and_lose_nothing(rows: Rows, database_url: str) -> None:
    """The recount stands between its lock and its commit until every worker has asked for the lock."""
    workers = _Workers(database_url, rows)
    calls = [make_usage(occurred_at=datetime(2026, 11, 30, 23, minute, tzinfo=UTC)) for minute in range(40)]
    await workers.deliver(calls[:10])
    counted, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def recount() -> None:
        async with workers.engine.connect() as holding:
            await holding.exec_driver_sql("SELECT pg_advisory_lock(7)")
            counted.set()
            await go_on.wait()
            await holding.exec_driver_sql("SELECT pg_advisory_unlock(7)")

    await rows.run(
        "CREATE FUNCTION signals.pause() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$"
    )
    await rows.run(
        "CREATE TRIGGER pause BEFORE UPDATE ON signals.business_time_zone FOR EACH ROW EXECUTE FUNCTION signals.pause()"
    )
    holder = loop.create_task(recount())
    await counted.wait()
    moving = loop.create_task(set_sums_right(workers.engine, _unseen, "Europe/Berlin"))
    await eventually(lambda: _waiting(rows, "advisory"), until=lambda count: count == 1)
    adding = [loop.create_task(workers.deliver(calls[start : start + 20])) for start in (5, 20)]
    await eventually(lambda: _waiting(rows, "relation"), until=lambda count: count == 2)
    go_on.set()
    await asyncio.gather(holder, moving, *adding)
    assert await stored_days(rows) == counted_days(calls, "Europe/Berlin")
    assert await workers.agree()
    await workers.engine.dispose()


async def _waiting(rows: Rows, lock: str) -> int:
    found: int = await rows.one(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = $1 "
        "AND (database IS NULL OR database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
        lock,
    )
    return found
