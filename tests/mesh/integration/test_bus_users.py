"""Separate users of the bus: each can do its work, and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import nats
import pytest
import pytest_asyncio
from nats.js.errors import APIError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.main import create_app
from services.signal_worker.settings import SignalWorkerSettings
from shared.embedded.data_folder import DataFolder
from shared.embedded.nats import FULL_USER, EmbeddedNats
from shared.events.streams import SIGNAL_STREAM, TRACE_STREAM
from shared.messaging.bus import Bus, PublishDeniedError, connect_nats, inbox_prefix, provision_bus
from shared.messaging.bus_users import BUS_USERS, consumer_user
from shared.messaging.outbox import enqueue
from shared.messaging.relay import OutboxRelay, RelayPolicy
from tests.support.events import make_usage
from tests.support.folders import folder_for_servers
from tests.support.http_server import serving
from tests.support.rows import Rows
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-15")]
_POLICY = RelayPolicy(poll_every=timedelta(seconds=0.2), retry_after=timedelta(seconds=1))


@pytest_asyncio.fixture
async def server() -> AsyncIterator[EmbeddedNats]:
    with folder_for_servers() as folder:
        server = EmbeddedNats(DataFolder.prepared(folder / "data"), BUS_USERS)
        await server.start()
        try:
            await provision_bus(server.url)
            yield server
        finally:
            await server.stop()


@pytest_asyncio.fixture
async def front_bus(server: EmbeddedNats) -> AsyncIterator[Bus]:
    bus = Bus(server.user_url("chat_api"), name="chat_api", provision=())
    bus.start()
    await eventually(lambda: _is_connected(bus))
    yield bus
    await bus.stop()


async def _heard(denied: list[str]) -> set[str]:
    return set(denied)


async def _is_connected(bus: Bus) -> bool:
    return bus.connected


async def test_events_travel_with_least_rights_and_a_lost_consumer_comes_back(
    server: EmbeddedNats, front_bus: Bus, engine: AsyncEngine, database_url: str, rows: Rows
) -> None:
    settings = SignalWorkerSettings.model_validate(
        {"database_url": database_url, "nats_url": server.user_url("signal_worker"), "consumer_check_every": 1}
    )
    relay = asyncio.create_task(OutboxRelay(engine, front_bus, _POLICY).run())
    admin = await nats.connect(server.url)
    async with serving(create_app(settings)):
        for round_number in (1, 2, 3):
            async with engine.begin() as connection:
                await enqueue(connection, [make_usage() for _ in range(20)], source="test")
            await rows.wait_for_count("signals.usage", round_number * 20)
            await rows.wait_for_empty_outbox()
            if round_number == 1:
                await admin.jetstream().delete_consumer(SIGNAL_STREAM, "signal_worker")
            else:
                await admin.jetstream().delete_stream(SIGNAL_STREAM)
    relay.cancel()
    with suppress(asyncio.CancelledError):
        await relay
    await admin.close()


async def test_a_denied_publish_is_seen_and_not_taken_for_a_timeout(front_bus: Bus) -> None:
    with pytest.raises(PublishDeniedError):
        await front_bus.publish("elsewhere.v1.thing", b"{}", stream=SIGNAL_STREAM, headers={})


async def test_a_front_can_neither_read_events_nor_change_streams(server: EmbeddedNats) -> None:
    denied: list[str] = []
    client = await connect_nats(server.user_url("chat_api"), name="chat_api", on_denied=denied.append)
    jetstream = client.jetstream(timeout=1)
    for attempt in (jetstream.delete_stream(SIGNAL_STREAM), jetstream.purge_stream(SIGNAL_STREAM)):
        with pytest.raises((TimeoutError, APIError)):
            await attempt
    await client.subscribe("achilles.signal.v1.usage")
    await client.subscribe("_INBOX.signal_worker.>")
    wanted = {"achilles.signal.v1.usage", "_inbox.signal_worker.>", f"$js.api.stream.delete.{SIGNAL_STREAM}".lower()}
    await eventually(lambda: _heard(denied), until=lambda heard: heard >= wanted)
    await client.close()


async def test_a_worker_can_take_nothing_of_another_and_publish_no_event(server: EmbeddedNats) -> None:
    denied: list[str] = []
    client = await connect_nats(server.user_url("signal_worker"), name="signal_worker", on_denied=denied.append)
    wanted = (
        "achilles.signal.v1.usage",
        f"$JS.API.CONSUMER.MSG.NEXT.{TRACE_STREAM}.trace_writer",
        f"$JS.API.CONSUMER.CREATE.{SIGNAL_STREAM}.spy",
        f"$JS.API.CONSUMER.DELETE.{SIGNAL_STREAM}.signal_worker",
        f"$JS.API.STREAM.DELETE.{SIGNAL_STREAM}",
        f"$JS.API.STREAM.MSG.GET.{SIGNAL_STREAM}",
    )
    for subject in wanted:
        await client.publish(subject, b"{}")
    await eventually(lambda: _heard(denied), until=lambda heard: heard >= {subject.lower() for subject in wanted})
    await client.close()


@pytest.mark.parametrize("url", ["nats://127.0.0.1:1", "nats://token@127.0.0.1:1"])
def test_replies_come_to_a_subject_of_the_users_own(url: str) -> None:
    assert inbox_prefix(url) == ("_INBOX.token" if "token" in url else "_INBOX")


def test_every_user_but_the_provisioner_is_limited() -> None:
    assert [user.name for user in BUS_USERS if user.publish is None or user.subscribe is None] == [FULL_USER.name]
    assert consumer_user("w", "S").subscribe == ("_INBOX.w.>",)
