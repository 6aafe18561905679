"""Traps of the broker and its libraries, each caused for real on the versions that are locked."""

from collections.abc import AsyncIterator

import nats
import pytest
import pytest_asyncio
from faststream.nats import NatsBroker
from nats.js import JetStreamContext
from nats.js.api import RetentionPolicy, StreamConfig
from nats.js.errors import APIError, NoStreamResponseError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.main import create_app
from services.signal_worker.settings import SignalWorkerSettings
from shared.background import running
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.bus import Bus
from shared.messaging.dead_letters import DeadLetters
from shared.messaging.delivery import Delivery, DeliveryService
from shared.messaging.envelope import body_of, headers_of, with_message_id
from shared.messaging.outbox import enqueue
from shared.messaging.provisioning import ensure_streams
from shared.messaging.relay import OutboxRelay, RelayPolicy
from tests.support.events import make_click, make_usage, publish
from tests.support.http_server import serving
from tests.support.rows import Rows
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest_asyncio.fixture
async def jetstream(nats_url: str) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(nats_url)
    yield client.jetstream()
    await client.close()


@pytest_asyncio.fixture
async def bus(nats_url: str) -> AsyncIterator[Bus]:
    """Creates no stream."""
    bus = Bus(nats_url, name="test", provision=())
    bus.start()
    await eventually(lambda: _is_connected(bus))
    yield bus
    await bus.stop()


async def _is_connected(bus: Bus) -> bool:
    return bus.connected


@pytest.fixture
def worker(database_url: str, nats_url: str) -> SignalWorkerSettings:
    return SignalWorkerSettings.model_validate(
        {"database_url": database_url, "nats_url": nats_url, "consumer_check_every": 1, "fetch_wait": 1}
    )


async def test_a_publication_that_names_no_stream_is_lost_in_silence_and_ours_is_not(
    nats_url: str, bus: Bus, engine: AsyncEngine, rows: Rows
) -> None:
    async with NatsBroker(nats_url) as broker:
        await broker.publish(b"{}", make_usage().subject)  # nobody keeps it, and nobody says so
    async with engine.begin() as connection:
        await enqueue(connection, [make_usage()], source="test")
    relay = OutboxRelay(engine, bus, RelayPolicy())
    assert await relay.send_due() == 0
    with pytest.raises(NoStreamResponseError):
        await bus.publish(make_usage().subject, b"{}", stream=SIGNAL_STREAM, headers={})
    assert await rows.count("mesh.outbox") == 1


async def test_somebody_elses_stream_on_our_subjects_takes_no_event_of_ours(
    jetstream: JetStreamContext, bus: Bus, engine: AsyncEngine, rows: Rows
) -> None:
    await jetstream.add_stream(StreamConfig(name="FOREIGN", subjects=["achilles.>"], retention=RetentionPolicy.LIMITS))
    async with engine.begin() as connection:
        await enqueue(connection, [make_usage()], source="test")
    assert await OutboxRelay(engine, bus, RelayPolicy()).send_due() == 0
    with pytest.raises(APIError, match="expected stream does not match"):
        await bus.publish(make_usage().subject, b"{}", stream=SIGNAL_STREAM, headers={})
    assert (await jetstream.stream_info("FOREIGN")).state.messages == 0
    assert await rows.count("mesh.outbox") == 1


@pytest.mark.req("MESH-5")
async def test_a_broken_body_that_claims_to_be_json_harms_no_neighbour(
    jetstream: JetStreamContext, worker: SignalWorkerSettings, rows: Rows
) -> None:
    await ensure_streams(jetstream)
    good = [make_click(f"k{number}") for number in range(99)]
    for number, click in enumerate(good):
        if number == 50:
            headers = {"content-type": "application/json", "ce-id": "poison"}
            await jetstream.publish(click.subject, b"{broken", stream=SIGNAL_STREAM, headers=headers)
        headers = {"content-type": "application/json", **headers_of(click, source="test")}
        await jetstream.publish(click.subject, body_of(click), stream=SIGNAL_STREAM, headers=headers)
    async with serving(create_app(worker)):
        await rows.wait_for_count("signals.accesses", 99)
        await rows.wait_for_count("mesh.dead_letters", 1)
        await eventually(lambda: _unacknowledged(jetstream), until=lambda count: count == 0)
    assert await rows.one("SELECT reason_class FROM mesh.dead_letters") == "unparsable"


async def test_a_fault_in_a_batch_ends_no_message_of_it(
    jetstream: JetStreamContext, worker: SignalWorkerSettings, rows: Rows
) -> None:
    """The library's default would terminate the whole batch, never to be delivered again."""
    await ensure_streams(jetstream)
    for number in range(5):
        await publish(jetstream, make_click(f"k{number}"))
    await rows.run("ALTER TABLE signals.accesses RENAME TO elsewhere")
    async with serving(create_app(worker)):
        await eventually(lambda: _unacknowledged(jetstream), until=lambda count: count == 5)
        await rows.run("ALTER TABLE signals.elsewhere RENAME TO accesses")
        await rows.wait_for_count("signals.accesses", 5)
    assert await rows.count("mesh.dead_letters") == 0


async def test_a_second_publication_with_the_brokers_own_headers_is_swallowed_and_a_replay_is_not(
    jetstream: JetStreamContext, worker: SignalWorkerSettings, bus: Bus, engine: AsyncEngine, rows: Rows
) -> None:
    await ensure_streams(jetstream)
    click = make_click()
    headers = with_message_id(headers_of(click, source="test"), click.event_id, 1)
    await jetstream.publish(click.subject, body_of(click), stream=SIGNAL_STREAM, headers=headers)
    again = await jetstream.publish(click.subject, body_of(click), stream=SIGNAL_STREAM, headers=headers)
    assert again.duplicate, "the broker knows this message"
    # What the worker received, with all headers, was dead-lettered.
    received = {**headers, "Nats-Expected-Stream": "ANOTHER", "Nats-Expected-Last-Msg-Id": "another"}
    with pytest.raises(APIError):
        await bus.publish(click.subject, body_of(click), stream=SIGNAL_STREAM, headers={**received, "Nats-Msg-Id": "x"})
    await DeliveryService(engine, "signal_worker", {}).deliver([Delivery(click.subject, body_of(click), received)])
    await jetstream.purge_stream(SIGNAL_STREAM)
    letters = DeadLetters(engine)
    report = await letters.replay([letter.id for letter in await letters.newest(1)])
    assert len(report.replayed) == 1
    async with serving(create_app(worker)), running(OutboxRelay(engine, bus, RelayPolicy()).run()):
        await rows.wait_for_count("signals.accesses", 1)
        await rows.wait_for_empty_outbox()


async def test_a_consumer_waits_the_whole_time_for_an_acknowledgement(
    jetstream: JetStreamContext, worker: SignalWorkerSettings
) -> None:
    """A `backoff` list would replace `ack_wait` by its first value."""
    async with serving(create_app(worker)):
        await eventually(lambda: _consumer_exists(jetstream))
        config = (await jetstream.consumer_info(SIGNAL_STREAM, "signal_worker")).config
    assert (config.ack_wait, config.backoff, config.max_deliver) == (60, None, 10)


async def _consumer_exists(jetstream: JetStreamContext) -> bool:
    try:
        await jetstream.consumer_info(SIGNAL_STREAM, "signal_worker")
    except nats.js.errors.NotFoundError:
        return False
    return True


async def _unacknowledged(jetstream: JetStreamContext) -> int:
    if not await _consumer_exists(jetstream):
        return -1
    return (await jetstream.consumer_info(SIGNAL_STREAM, "signal_worker")).num_ack_pending or 0
