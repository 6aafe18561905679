"""The zone of business days is chosen once, by the first worker that starts before anything was counted."""

import asyncio
import logging

import pytest
from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.settings import SignalWorkerSettings
from services.signal_worker.storage.usage import apply_usage
from shared.usage.time_zone import claim_time_zone
from tests.support.events import make_usage
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_NAME = "SELECT name FROM signals.business_time_zone"


@pytest.mark.req("MESH-12")
async def test_the_first_start_sets_the_configured_zone(engine: AsyncEngine, rows: Rows) -> None:
    assert await rows.one(_NAME) == "UTC"
    await asyncio.gather(*(claim_time_zone(engine, "Europe/Berlin") for _ in range(3)))
    assert await rows.one(_NAME) == "Europe/Berlin"


@pytest.mark.req("MESH-12")
async def test_later_a_worker_keeps_the_zone_that_was_counted_in_and_says_so(
    engine: AsyncEngine, rows: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    await claim_time_zone(engine, "Europe/Berlin")
    async with engine.begin() as connection:
        await apply_usage(connection, [make_usage()])
    with caplog.at_level(logging.WARNING):
        await claim_time_zone(engine, "America/New_York")
    assert await rows.one(_NAME) == "Europe/Berlin"
    assert [record.message for record in caplog.records] == ["business_time_zone_differs"]


async def test_a_worker_without_a_zone_of_its_own_takes_what_holds(engine: AsyncEngine, rows: Rows) -> None:
    await claim_time_zone(engine, "Asia/Kathmandu")
    await claim_time_zone(engine, "")
    assert await rows.one(_NAME) == "Asia/Kathmandu"


def test_a_zone_that_does_not_exist_is_refused_at_the_start() -> None:
    values = {"database_url": "postgresql://x", "nats_url": "nats://x", "business_time_zone": "Berlin"}
    with pytest.raises(ValidationError, match="Europe/Berlin"):
        SignalWorkerSettings.model_validate(values)
