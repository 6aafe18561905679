"""Why a worker that acknowledges before its commit loses nothing here: the broker forgets, the ledger does not."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

import nats
import pytest
from nats.js.errors import NotFoundError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.settings import SignalWorkerSettings
from services.signal_worker.wiring import EFFECTS, SIGNAL_CONSUMER
from shared.background import running
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.bus import Bus
from shared.messaging.consumer import DurableConsumer
from shared.messaging.delivery import Delivery, DeliveryService, Outcome
from shared.messaging.outbox import enqueue
from shared.messaging.relay import OutboxRelay, RelayPolicy
from tests.support.chaos.sabotage import AcknowledgesFirst
from tests.support.events import make_click
from tests.support.rows import Rows
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-6")]
_EVENTS = 5
_POLICY = RelayPolicy(retry_after=timedelta(seconds=3), poll_every=timedelta(seconds=0.2))


class DiesBeforeTheEffect(DeliveryService):
    """Of a batch in its hands nothing is written."""

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        return await super().deliver([])


async def test_what_was_acknowledged_and_never_written_is_sent_again_and_applied_once(
    engine: AsyncEngine, database_url: str, nats_url: str, rows: Rows
) -> None:
    settings = SignalWorkerSettings.model_validate({"database_url": database_url, "nats_url": nats_url})
    async with engine.begin() as connection:
        await enqueue(connection, [make_click(f"k{number}") for number in range(_EVENTS)], source="test")
    async with AsyncExitStack() as stack:
        bus = Bus(nats_url, name="chat_api")
        bus.start()
        stack.push_async_callback(bus.stop)
        await stack.enter_async_context(running(OutboxRelay(engine, bus, _POLICY).run(), name="relay"))
        service = DiesBeforeTheEffect(engine, SIGNAL_CONSUMER.durable, EFFECTS)
        async with running(AcknowledgesFirst(SIGNAL_CONSUMER, service, settings).run(), name="sabotaged"):
            await eventually(lambda: _acknowledged(nats_url), until=lambda count: count >= _EVENTS)
        # For the broker all is done, and it will never send these messages again.
        assert (await rows.count("signals.accesses"), await rows.count("mesh.outbox")) == (0, _EVENTS)
        honest = DurableConsumer(SIGNAL_CONSUMER, DeliveryService(engine, SIGNAL_CONSUMER.durable, EFFECTS), settings)
        async with running(honest.run(), name="honest"):
            await rows.wait_for_count("signals.accesses", _EVENTS)
            await eventually(lambda: rows.count("mesh.outbox"), until=lambda waiting: waiting == 0)
    assert await rows.one("SELECT total FROM signals.access_counters") == _EVENTS


async def _acknowledged(nats_url: str) -> int:
    """How many messages the broker holds for settled."""
    client = await nats.connect(nats_url)
    try:
        info = await client.jetstream().consumer_info(SIGNAL_STREAM, SIGNAL_CONSUMER.durable)
        return info.ack_floor.stream_seq if info.ack_floor else 0
    except NotFoundError:
        return 0
    finally:
        await client.close()
