"""A worker that dies between its commit and its acknowledgement, and a commit whose reply nobody hears."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import pytest
import pytest_asyncio
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.settings import SignalWorkerSettings
from services.signal_worker.wiring import EFFECTS, SIGNAL_CONSUMER
from shared.background import running
from shared.database.engine import make_engine
from shared.embedded.ports import PortBook
from shared.embedded.processes import ManagedProcess, ProcessSpec
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.consumer import DurableConsumer
from shared.messaging.delivery import Delivery, DeliveryService, Outcome
from shared.messaging.outbox import enqueue
from shared.messaging.provisioning import ensure_streams
from tests.support.deployment import PROJECT
from tests.support.events import make_click, make_usage, publish
from tests.support.rows import Rows
from tests.support.tcp_proxy import TcpProxy
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-6")]
_EVENTS = 20
_DURABLE = "signal_worker"
_WAITING_FOR_A_LOCK = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


@pytest_asyncio.fixture
async def jetstream(nats_url: str) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(nats_url)
    await ensure_streams(client.jetstream())
    yield client.jetstream()
    await client.close()


@asynccontextmanager
async def _before(url: str) -> AsyncIterator[TcpProxy]:
    proxy = TcpProxy(url)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()


def _worker_process(database_url: str, nats_url: str, folder: Path) -> ManagedProcess:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ACHILLES_")},
        "ACHILLES_DATABASE_URL": database_url,
        "ACHILLES_NATS_URL": nats_url,
        "ACHILLES_SIGNAL_WORKER_PORT": str(PortBook(folder / "ports.json").choose("worker")),
        "ACHILLES_ACK_WAIT": "2",
    }
    command = (sys.executable, "-m", "services.signal_worker")
    return ManagedProcess(
        ProcessSpec(_DURABLE, command, folder / "worker.log", environment=environment, folder=PROJECT)
    )


async def test_a_worker_killed_between_commit_and_acknowledgement_has_one_effect(
    jetstream: JetStreamContext, nats_url: str, database_url: str, rows: Rows, tmp_path: Path
) -> None:
    clicks = [make_click(f"k{number}") for number in range(_EVENTS)]
    async with _before(nats_url) as proxy:
        process = _worker_process(database_url, proxy.through(nats_url), tmp_path)
        async with Rows.of(database_url) as holder, holder.transaction():
            await holder.run("LOCK TABLE signals.accesses IN ACCESS EXCLUSIVE MODE")
            for click in clicks:
                await publish(jetstream, click)
            process.start()
            await eventually(lambda: rows.one(_WAITING_FOR_A_LOCK), within=90)
            # From here on the broker hears nothing of what the worker says.
            proxy.cut()
        committed = await eventually(lambda: rows.count("signals.accesses"))
        await process.kill()
        assert (await jetstream.consumer_info(SIGNAL_STREAM, _DURABLE)).num_ack_pending == committed
        proxy.mend()
        process.start()
        await eventually(lambda: _is_done(jetstream), within=90)
        await process.stop()
    delivered = (await jetstream.consumer_info(SIGNAL_STREAM, _DURABLE)).delivered
    assert delivered is not None
    assert delivered.consumer_seq >= _EVENTS + committed, "what was committed came again"
    assert await rows.count("signals.accesses") == _EVENTS
    assert await rows.one("SELECT total FROM signals.access_counters") == _EVENTS
    assert await rows.count("mesh.dead_letters") == 0


async def _is_done(jetstream: JetStreamContext) -> bool:
    """Everything was delivered and acknowledged."""
    try:
        info = await jetstream.consumer_info(SIGNAL_STREAM, _DURABLE)
    except NotFoundError:
        return False
    return (info.num_ack_pending, info.num_pending) == (0, 0)


class _WatchedService(DeliveryService):
    """Counts how often a batch was tried, and how often its commit was heard of."""

    tried = 0
    heard = 0

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        self.tried += 1
        outcomes = await super().deliver(deliveries)
        self.heard += 1
        return outcomes


async def test_a_commit_whose_reply_is_lost_has_one_effect(
    jetstream: JetStreamContext,
    nats_url: str,
    database_url: str,
    engine: AsyncEngine,
    rows: Rows,
) -> None:
    click, usage = make_click(), make_usage()
    async with engine.begin() as connection:
        await enqueue(connection, [click, usage], source="test")
    for one in (click, usage):
        await publish(jetstream, one)
    settings = SignalWorkerSettings.model_validate(
        {"database_url": database_url, "nats_url": nats_url, "fetch_wait": 1}
    )
    async with _before(database_url) as proxy:
        muffled = make_engine(proxy.through(database_url), application_name="test")
        muted = _mute_first_commit(muffled, proxy)
        service = _WatchedService(muffled, _DURABLE, EFFECTS)
        async with running(DurableConsumer(SIGNAL_CONSUMER, service, settings).run()):
            await muted.wait()
            # It was committed, and the worker does not know.
            await rows.wait_for_empty_outbox()
            assert (service.tried, service.heard) == (1, 0)
            proxy.mend()
            await eventually(lambda: _is_done(jetstream))
        await muffled.dispose()
    assert (service.tried, service.heard) == (2, 1)
    assert (await rows.count("signals.accesses"), await rows.count("signals.usage")) == (1, 1)
    assert await rows.one("SELECT total FROM signals.access_counters") == 1
    assert (await rows.count("mesh.outbox"), await rows.count("mesh.dead_letters")) == (0, 0)


def _mute_first_commit(engine: AsyncEngine, proxy: TcpProxy) -> asyncio.Event:
    """The server's replies are lost from the first transaction's COMMIT on, which itself arrives."""
    muted = asyncio.Event()

    def before_commit(_connection: Any) -> None:
        if not muted.is_set():
            proxy.mute()
            muted.set()

    event.listen(engine.sync_engine, "commit", before_commit)
    return muted
