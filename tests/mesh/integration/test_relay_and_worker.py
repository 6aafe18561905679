"""From the outbox over NATS to the row, with the real worker."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import nats
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.main import create_app
from services.signal_worker.settings import SignalWorkerSettings
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.bus import Bus
from shared.messaging.outbox import enqueue
from shared.messaging.relay import OutboxRelay, RelayPolicy
from tests.support.events import make_click, make_usage, publish
from tests.support.http_server import serving
from tests.support.rows import Rows
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_POLICY = RelayPolicy(poll_every=timedelta(seconds=0.2), retry_after=timedelta(seconds=1))


@asynccontextmanager
async def _relay(engine: AsyncEngine, nats_url: str) -> AsyncIterator[None]:
    bus = Bus(nats_url, name="test")
    bus.start()
    task = asyncio.create_task(OutboxRelay(engine, bus, _POLICY).run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await bus.stop()


def _worker(database_url: str, nats_url: str, **more: Any) -> SignalWorkerSettings:
    return SignalWorkerSettings.model_validate(
        {"database_url": database_url, "nats_url": nats_url, "consumer_check_every": 1, **more}
    )


async def _write(engine: AsyncEngine, count: int) -> None:
    async with engine.begin() as connection:
        await enqueue(connection, [make_usage() for _ in range(count)], source="test")


async def test_events_travel_from_the_outbox_to_their_rows(
    engine: AsyncEngine, rows: Rows, database_url: str, nats_url: str
) -> None:
    async with serving(create_app(_worker(database_url, nats_url))), _relay(engine, nats_url):
        await _write(engine, 250)
        await rows.wait_for_count("signals.usage", 250)
        await rows.wait_for_empty_outbox()
    assert await rows.count("mesh.dead_letters") == 0


async def test_publishing_deletes_nothing(engine: AsyncEngine, rows: Rows, nats_url: str) -> None:
    await _write(engine, 3)
    async with _relay(engine, nats_url):
        await eventually(lambda: rows.one("SELECT min(epoch) FROM mesh.outbox"), until=lambda epoch: epoch >= 2)
    assert await rows.count("mesh.outbox") == 3


@pytest.mark.req("MESH-3")
async def test_a_wiped_stream_only_means_that_events_are_sent_again(
    engine: AsyncEngine, rows: Rows, database_url: str, nats_url: str
) -> None:
    await _write(engine, 20)
    async with _relay(engine, nats_url):
        await eventually(lambda: rows.one("SELECT min(epoch) FROM mesh.outbox"), until=lambda epoch: epoch >= 1)
        client = await nats.connect(nats_url)
        await client.jetstream().delete_stream(SIGNAL_STREAM)
        await client.close()
        async with serving(create_app(_worker(database_url, nats_url))):
            await rows.wait_for_count("signals.usage", 20)
            await rows.wait_for_empty_outbox()


async def test_a_deleted_consumer_comes_back(engine: AsyncEngine, rows: Rows, database_url: str, nats_url: str) -> None:
    async with serving(create_app(_worker(database_url, nats_url))), _relay(engine, nats_url):
        await _write(engine, 1)
        await rows.wait_for_count("signals.usage", 1)
        client = await nats.connect(nats_url)
        await client.jetstream().delete_consumer(SIGNAL_STREAM, "signal_worker")
        await client.close()
        await _write(engine, 5)
        await rows.wait_for_count("signals.usage", 6)


async def test_an_event_without_a_ledger_row_is_applied_all_the_same(
    rows: Rows, database_url: str, nats_url: str
) -> None:
    async with serving(create_app(_worker(database_url, nats_url))):
        client = await nats.connect(nats_url)
        jetstream = client.jetstream()
        await eventually(lambda: _has_stream(jetstream))
        await publish(jetstream, make_click())
        await rows.wait_for_count("signals.accesses", 1)
        await client.close()


async def _has_stream(jetstream: Any) -> bool:
    try:
        await jetstream.stream_info(SIGNAL_STREAM)
    except nats.js.errors.NotFoundError:
        return False
    return True
