"""The store counts accesses from the bus and from the front's list, each once, and trusts what is used."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import nats
import pytest
import pytest_asyncio
from nats.js import JetStreamContext
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.adapters.access_signals_client import AccessSignalsClient
from services.knowledge_store.domain.trust import Access, TrustRule
from services.knowledge_store.storage.trust_store import TrustStore
from services.knowledge_store.use_cases.catch_up_accesses import CatchUpService
from services.knowledge_store.use_cases.count_accesses import AccessCounter
from services.signal_worker.storage.accesses import apply_accesses
from shared.database.engine import make_engine
from shared.events import SourceAccessed
from shared.events.accessed import AccessKind
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.provisioning import ensure_streams
from tests.support.events import publish
from tests.support.fake_embedder import FakeEmbedder
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import TOKEN, RunningStore, run_store
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

NOW = datetime.now(UTC)
RULE = TrustRule(timedelta(days=90), 1.0, 3.0)


def make_accessed(record_id: str = "handbook/b.md", kind: AccessKind = "cited", days_ago: float = 0) -> SourceAccessed:
    return SourceAccessed(
        occurred_at=NOW - timedelta(days=days_ago),
        message_id=uuid4(),
        conversation_id=uuid4(),
        record_id=record_id,
        source_system="Handbook",
        kind=kind,
        click_id="k1" if kind == "clicked" else None,
    )


@pytest_asyncio.fixture
async def knowledge(fresh_database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(fresh_database_url, application_name="test")
    yield engine
    await engine.dispose()


@pytest_asyncio.fixture
async def front(database_url: str, nats_url: str, redis_url: str) -> AsyncIterator[RunningFront]:
    settings = make_front_settings(database_url, nats_url, redis_url, "http://127.0.0.1:1", knowledge_token=TOKEN)
    async with running_front(settings) as running:
        yield running


@asynccontextmanager
async def bus(nats_url: str) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(nats_url)
    try:
        jetstream = client.jetstream()
        await ensure_streams(jetstream)
        yield jetstream
    finally:
        await client.close()


async def write_down(engine: AsyncEngine, *events: SourceAccessed) -> None:
    """As the signal worker does."""
    async with engine.begin() as connection:
        await apply_accesses(connection, events)


async def scores(engine: AsyncEngine, when: datetime = NOW) -> dict[str, float]:
    async with engine.connect() as connection:
        ids = (await connection.execute(text("SELECT record_id FROM knowledge.trust"))).scalars().all()
        return {
            record_id: RULE.at(trust, when) for record_id, trust in (await TrustStore(connection).load(ids)).items()
        }


async def known(engine: AsyncEngine) -> int:
    async with engine.connect() as connection:
        return int(await connection.scalar(text("SELECT count(*) FROM knowledge.access_signal")) or 0)


async def wait_for(engine: AsyncEngine, count: int) -> None:
    await eventually(lambda: known(engine), until=lambda found: found >= count, within=60)


@pytest.mark.req("MESH-14")
async def test_accesses_from_the_bus_add_up_to_the_closed_form(
    knowledge: AsyncEngine, fresh_database_url: str, embedder: FakeEmbedder, nats_url: str
) -> None:
    events = [make_accessed(kind="clicked"), make_accessed(days_ago=90), make_accessed(days_ago=180)]
    async with bus(nats_url) as jetstream, run_store(fresh_database_url, embedder, nats_url):
        for event in events:
            await publish(jetstream, event)
            await publish(jetstream, event, epoch=2)
        await jetstream.publish(SourceAccessed.subject, b"{not json", stream=SIGNAL_STREAM)
        last = make_accessed("handbook/last.md")
        await publish(jetstream, last)
        await wait_for(knowledge, 4)
    assert await known(knowledge) == 4
    found = await scores(knowledge)
    assert math.isclose(found["handbook/b.md"], 3 + 1 / 2 + 1 / 4, rel_tol=1e-6)


@pytest.mark.req("MESH-14")
async def test_gap_after_a_wiped_stream_is_closed_over_http_and_nothing_counts_twice(
    engine: AsyncEngine,
    knowledge: AsyncEngine,
    fresh_database_url: str,
    embedder: FakeEmbedder,
    nats_url: str,
    front: RunningFront,
) -> None:
    events = [make_accessed() for _ in range(5)]
    async with bus(nats_url) as jetstream:
        async with run_store(fresh_database_url, embedder, nats_url):
            await publish(jetstream, events[0])
            await wait_for(knowledge, 1)
        for event in events[1:4]:
            await publish(jetstream, event)
        await write_down(engine, *events[:4])
        await jetstream.delete_stream(SIGNAL_STREAM)
        await ensure_streams(jetstream)
        await publish(jetstream, events[4])
        await publish(jetstream, events[3], epoch=7)
        await write_down(engine, events[4])
        async with run_store(fresh_database_url, embedder, nats_url, front_url=front.url, catch_up_every=1):
            await wait_for(knowledge, 5)
            await publish(jetstream, events[2], epoch=9)
            await publish(jetstream, make_accessed("handbook/last.md"))
            await wait_for(knowledge, 6)
    assert await known(knowledge) == 6
    assert math.isclose((await scores(knowledge))["handbook/b.md"], 5.0, rel_tol=1e-6)


async def test_list_is_read_page_by_page_and_only_its_end_is_read_again(
    engine: AsyncEngine, knowledge: AsyncEngine, store: RunningStore, front: RunningFront
) -> None:
    await write_down(engine, *(make_accessed() for _ in range(230)))
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE signals.accesses SET applied_at = applied_at - interval '1 day'"))
    await write_down(engine, *(make_accessed() for _ in range(3)))
    client = AccessSignalsClient(front.url, TOKEN)
    service = CatchUpService(knowledge, AccessCounter(knowledge, RULE, lambda: NOW), client)
    assert await service.catch_up() == 233
    async with knowledge.connect() as connection:
        bookmark = await TrustStore(connection).bookmark()
    assert len((await client.read_after(bookmark)).data) == 3
    await write_down(engine, make_accessed("handbook/last.md"))
    assert await service.catch_up() == 1
    async with engine.begin() as connection:
        await connection.execute(text("DELETE FROM signals.accesses WHERE event_id = :id"), {"id": bookmark})
    await write_down(engine, make_accessed("handbook/last.md"))
    assert await service.catch_up() == 1
    assert await known(knowledge) == 235
    await client.close()


@pytest.mark.req("ACCESS-4")
async def test_what_is_used_comes_first_among_equals_and_a_switch_turns_that_off(
    folder: KnowledgeFolder, knowledge: AsyncEngine, fresh_database_url: str, embedder: FakeEmbedder
) -> None:
    folder.write("a.md", "# Parking\n\nThere are parking spaces for employees behind hall one.")
    folder.write("b.md", "# Parking\n\nThere are parking spaces for employees behind hall two.")
    question = "Where are parking spaces for employees?"
    async with run_store(fresh_database_url, embedder) as store:
        await store.ingest(folder)
        version = (await store.status()).knowledge_version
        before = await store.search(question)
        used = before.hits[1].record_id
        counter = AccessCounter(knowledge, RULE, lambda: datetime.now(UTC))
        accessed = [make_accessed(used, "clicked") for _ in range(30)]
        await counter.count([Access(one.event_id, one.record_id, one.kind, one.occurred_at) for one in accessed])
        after = await store.search(question)
        unrelated = await store.search("Who won the world cup?")
    assert [hit.record_id for hit in after.hits] == [used, before.hits[0].record_id]
    assert {hit.chunk_id for hit in after.hits} == {hit.chunk_id for hit in before.hits}
    assert (after.knowledge_version, unrelated.outcome) == (version, "empty")
    async with run_store(fresh_database_url, embedder, trust_in_ranking=False) as store:
        assert (await store.search(question)).hits == before.hits


async def test_another_half_life_counts_everything_anew(
    knowledge: AsyncEngine, fresh_database_url: str, embedder: FakeEmbedder
) -> None:
    async with run_store(fresh_database_url, embedder):
        counter = AccessCounter(knowledge, RULE, lambda: NOW)
        old = [make_accessed(days_ago=90), make_accessed(days_ago=0)]
        await counter.count([Access(one.event_id, one.record_id, one.kind, one.occurred_at) for one in old])
    assert math.isclose((await scores(knowledge))["handbook/b.md"], 1.5, rel_tol=1e-6)
    async with run_store(fresh_database_url, embedder, trust_half_life=timedelta(days=30)):
        pass
    assert math.isclose((await scores(knowledge))["handbook/b.md"], 1 + 1 / 8, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("change", "counted"),
    [
        ({"occurred_at": NOW + timedelta(days=3_000)}, 1),
        ({"occurred_at": NOW - timedelta(days=3_000)}, 0),
        ({"record_id": "nul\x00"}, 0),
        ({"record_id": "x" * 2_001}, 0),
    ],
)
async def test_strange_accesses_do_no_harm(
    knowledge: AsyncEngine, store: RunningStore, change: dict[str, Any], counted: int
) -> None:
    fields = {"event_id": uuid4(), "record_id": "a", "kind": "cited", "occurred_at": NOW, **change}
    assert await AccessCounter(knowledge, RULE, lambda: NOW).count([Access(**fields)]) == counted
    assert list((await scores(knowledge)).values()) == [1.0] * counted


async def test_store_starts_and_serves_while_the_front_is_away(fresh_database_url: str, embedder: FakeEmbedder) -> None:
    async with run_store(fresh_database_url, embedder, front_url="http://127.0.0.1:1") as store:
        assert (await store.search("anything")).outcome == "empty"
