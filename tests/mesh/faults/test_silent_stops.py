"""Parts that stop without a word: health turns red, and what can mend itself does."""

import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import nats
import pytest
import pytest_asyncio
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy

from shared.embedded.data_folder import DataFolder
from shared.embedded.nats import EmbeddedNats, NatsUser
from shared.events.streams import SIGNAL_STREAM, TRACE_STREAM
from shared.messaging.loop_health import HealthPolicy
from tests.support.interjecting_proxy import InterjectingProxy
from tests.support.rows import Rows
from tests.support.running_mesh import CANARY_EVERY, MeshUrls, RunningMesh, running_mesh
from tests.support.scripted_model import ScriptedModel, say
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-7", "MESH-8")]
_NEWEST_CANARY = "SELECT sent_at FROM mesh.canaries WHERE consumer = $1"


@pytest.fixture
def urls(own_nats: EmbeddedNats, database_url: str, redis_url: str, store: StubKnowledgeStore) -> MeshUrls:
    return MeshUrls(database_url, own_nats.url, redis_url, store.url)


@pytest_asyncio.fixture
async def mesh(urls: MeshUrls, model: ScriptedModel) -> AsyncIterator[RunningMesh]:
    """Everything works, and canaries arrive."""
    async with running_mesh(urls, model, canary_every=CANARY_EVERY) as running:
        await running.wait_until_green()
        yield running


@pytest_asyncio.fixture
async def jetstream(own_nats: EmbeddedNats) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(own_nats.url)
    yield client.jetstream()
    await client.close()


def test_as_configured_red_comes_within_two_minutes() -> None:
    policy = HealthPolicy()
    assert policy.canary_stale_after + policy.canary_every <= timedelta(minutes=2)
    assert policy.outbox_red_after <= timedelta(minutes=2)


async def test_a_paused_consumer_turns_red_and_works_again_once_resumed(
    mesh: RunningMesh, jetstream: JetStreamContext
) -> None:
    await jetstream.pause_consumer(TRACE_STREAM, "trace_writer", "2099-01-01T00:00:00Z")
    await mesh.wait_until_red("consumer:trace_writer", beside="consumer:signal_worker")
    await jetstream.resume_consumer(TRACE_STREAM, "trace_writer")
    await mesh.wait_until_green()


async def test_a_deleted_consumer_is_made_again_by_its_worker(
    mesh: RunningMesh, jetstream: JetStreamContext, rows: Rows
) -> None:
    for stream, consumer in ((SIGNAL_STREAM, "signal_worker"), (TRACE_STREAM, "trace_writer")):
        await jetstream.delete_consumer(stream, consumer)
        await _wait_for_a_later_canary(rows, consumer)
    await mesh.wait_until_green()


async def test_a_full_stream_turns_red_loses_nothing_and_works_again_with_room(
    mesh: RunningMesh, jetstream: JetStreamContext, model: ScriptedModel, rows: Rows
) -> None:
    usual = (await jetstream.stream_info(SIGNAL_STREAM)).config
    await jetstream.update_stream(replace(usual, max_bytes=1, discard=DiscardPolicy.NEW))
    model.script(say("Hello."))
    async with mesh.front.person() as anna:
        assert (await anna.ask("Hi")).text == "Hello."
    await mesh.wait_until_red("consumer:signal_worker", beside="consumer:trace_writer")
    await rows.wait_for_count("traces.runs", 1)
    assert await rows.count("signals.usage") == 0
    await jetstream.update_stream(usual)
    await rows.wait_for_count("signals.usage", 1)
    await mesh.wait_until_green()


async def test_a_rotated_password_turns_red_and_nobody_need_be_restarted_once_it_is_valid(
    mesh: RunningMesh, own_nats: EmbeddedNats, bus_folder: DataFolder, rows: Rows
) -> None:
    rotated = EmbeddedNats(bus_folder, (NatsUser("somebody_else"),))
    await own_nats.stop()
    await rotated.start()
    await mesh.wait_until_red("consumer:signal_worker")
    await mesh.wait_until_red("consumer:trace_writer")
    await rotated.stop()
    await own_nats.start()
    await mesh.wait_until_green()
    assert await rows.count("mesh.dead_letters") == 0


async def test_a_password_rotated_by_a_reload_ends_the_old_connections_and_works_again_once_it_is_valid(
    mesh: RunningMesh, own_nats: EmbeddedNats, bus_folder: DataFolder, rows: Rows
) -> None:
    """Only the password may differ in the file: the broker refuses a reload as a whole when a port has changed too."""
    file = bus_folder.config / "nats.conf"
    as_before = file.read_text()
    configuration = json.loads(as_before)
    for user in configuration["authorization"]["users"]:
        user["password"] = "rotated"
    await _reload(own_nats, bus_folder, json.dumps(configuration))
    await mesh.wait_until_red("consumer:signal_worker")
    await mesh.wait_until_red("consumer:trace_writer")
    await _reload(own_nats, bus_folder, as_before)
    await mesh.wait_until_green()
    assert await rows.count("mesh.dead_letters") == 0


async def _reload(server: EmbeddedNats, folder: DataFolder, configuration: str) -> None:
    """Returns once the broker says in its log that it took the new configuration."""

    async def taken() -> int:
        return (folder.logs / "nats.log").read_text().count("Reloaded server configuration")

    before = await taken()
    (folder.config / "nats.conf").write_text(configuration)
    pid = server.process.pid
    assert pid is not None
    os.kill(pid, signal.SIGHUP)
    await eventually(taken, until=lambda times: times > before)


@pytest.mark.parametrize("client_name", ["signal_worker", "signal_worker-admin", "chat_api"])
async def test_a_connection_that_the_broker_closes_for_good_is_opened_anew(
    own_nats: EmbeddedNats, urls: MeshUrls, model: ScriptedModel, rows: Rows, client_name: str
) -> None:
    proxy = InterjectingProxy(own_nats.url)
    await proxy.start()
    async with running_mesh(replace(urls, nats=proxy.url), model, canary_every=CANARY_EVERY) as mesh:
        await mesh.wait_until_green()
        # The client library closes on every refusal but a few, and then never reconnects.
        proxy.say(client_name, b"-ERR 'maximum connections exceeded'")
        await _wait_for_a_later_canary(rows, "signal_worker")
        await mesh.wait_until_green()
    await proxy.stop()


async def _wait_for_a_later_canary(rows: Rows, consumer: str) -> None:
    """One that is sent some pauses from now, so that nothing that was under way counts."""
    soon: Any = await rows.one(f"SELECT now() + interval '{3 * CANARY_EVERY} s'")
    await eventually(lambda: rows.one(_NEWEST_CANARY, consumer), until=lambda sent: sent > soon, within=60)
