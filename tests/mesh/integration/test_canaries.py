"""Canaries through the real bus and workers, and what health says when one does not arrive."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import nats
import pytest
import pytest_asyncio
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.main import create_app as create_signal_worker
from services.signal_worker.settings import SignalWorkerSettings
from services.trace_writer.main import create_app as create_trace_writer
from services.trace_writer.settings import TraceWriterSettings
from shared.events.streams import TRACE_STREAM
from shared.messaging.canary import CanarySender
from shared.messaging.leg_texts import LANGUAGES, leg_texts
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.http_server import serving
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_EVERY = 0.4


@pytest_asyncio.fixture
async def store() -> AsyncIterator[StubKnowledgeStore]:
    async with StubKnowledgeStore().running() as stub:
        yield stub


async def _legs(front: RunningFront) -> dict[str, str]:
    async with front.person("olga") as olga:
        body = (await olga.client.get("/api/v1/loop/health")).json()
    return {leg["name"]: leg["reason"] for leg in body["legs"]}


def _only_traces_are_late(legs: dict[str, str]) -> bool:
    return (legs["consumer:trace_writer"], legs["consumer:signal_worker"]) == ("arrives_late", "works")


@pytest.mark.req("MESH-8")
async def test_a_stopped_consumer_turns_red_and_green_again_when_it_is_back(
    database_url: str, nats_url: str, redis_url: str, rows: Rows, store: StubKnowledgeStore
) -> None:
    worker = {"database_url": database_url, "nats_url": nats_url, "consumer_check_every": 1}
    signal_worker = create_signal_worker(SignalWorkerSettings.model_validate(worker))
    trace_settings = TraceWriterSettings.model_validate(worker)
    settings = make_front_settings(
        database_url, nats_url, redis_url, store.url, canary_every=_EVERY, outbox_retry_after=1
    )
    async with running_front(settings, ScriptedModel()) as front, serving(signal_worker):
        async with serving(create_trace_writer(trace_settings)):
            await eventually(lambda: _legs(front), until=lambda legs: set(legs.values()) == {"works"})
        await eventually(lambda: _legs(front), until=_only_traces_are_late)
        async with serving(create_trace_writer(trace_settings)):
            await eventually(lambda: _legs(front), until=lambda legs: legs["consumer:trace_writer"] == "works")
    for table in ("signals.usage", "signals.accesses", "traces.retrievals", "traces.runs", "mesh.dead_letters"):
        assert await rows.count(table) == 0


@pytest.mark.req("MESH-7")
async def test_a_deleted_consumer_comes_back_and_its_canaries_arrive(
    database_url: str, nats_url: str, redis_url: str, rows: Rows, store: StubKnowledgeStore
) -> None:
    worker = {"database_url": database_url, "nats_url": nats_url, "consumer_check_every": 1}
    trace_writer = create_trace_writer(TraceWriterSettings.model_validate(worker))
    settings = make_front_settings(
        database_url, nats_url, redis_url, store.url, canary_every=_EVERY, outbox_retry_after=1
    )
    newest = "SELECT max(sent_at) FROM mesh.canaries"
    client = await nats.connect(nats_url)
    async with serving(trace_writer), running_front(settings, ScriptedModel()):
        await eventually(lambda: rows.one(newest))
        await client.jetstream().delete_consumer(TRACE_STREAM, "trace_writer")
        deleted_at = await rows.one("SELECT now()")
        await eventually(lambda: rows.one(newest), until=lambda sent_at: sent_at > deleted_at)
    await client.close()


async def test_several_fronts_send_one_canary_a_pause_and_none_beside_one_that_waits(
    engine: AsyncEngine, rows: Rows
) -> None:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def sender(at: datetime) -> CanarySender:
        return CanarySender(engine, every=timedelta(seconds=30), source="test", now=lambda: at)

    assert sum(await asyncio.gather(*(sender(now).send_due() for _ in range(5)))) == 2
    assert await rows.count("mesh.outbox") == 2
    assert await sender(now + timedelta(seconds=60)).send_due() == 0
    await rows.run("DELETE FROM mesh.outbox")
    assert await sender(now + timedelta(seconds=10)).send_due() == 0
    assert await sender(now + timedelta(seconds=30)).send_due() == 2


async def test_health_is_for_operators_and_speaks_their_language(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    async with running_front(settings, ScriptedModel()) as front:
        async with front.person("anna") as anna, front.anybody() as nobody:
            assert (await anna.client.get("/api/v1/loop/health")).status_code == 403
            assert (await nobody.get("/api/v1/loop/health")).status_code == 401
        async with front.person("olga") as olga:
            for language in LANGUAGES:
                response = await olga.client.get("/api/v1/loop/health", headers={"accept-language": language})
                texts = {leg["name"]: leg["text"] for leg in response.json()["legs"]}
                assert texts["dead_letters"] == leg_texts(language)["dead_letters"]["works"]
