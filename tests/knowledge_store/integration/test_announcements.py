"""The bus hears when the store becomes empty or stops being empty; nothing waits for the bus."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import nats
import pytest
from nats.js.api import ConsumerConfig, DeliverPolicy

from shared.events.knowledge import KnowledgeChanged
from tests.support.fake_embedder import FakeEmbedder
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore, run_store

pytestmark = [pytest.mark.integration, pytest.mark.p1]

UNREACHABLE = "nats://127.0.0.1:1"


class Heard:
    """The announcements of one store, as any consumer of the stream would see them."""

    def __init__(self, subscription: nats.js.JetStreamContext.PushSubscription, store_id: str) -> None:
        self._subscription = subscription
        self._store_id = store_id
        self.headers: dict[str, str] = {}

    async def next(self, within: float = 10.0) -> KnowledgeChanged:
        async with asyncio.timeout(within):
            while True:
                message = await self._subscription.next_msg(timeout=within)
                event = KnowledgeChanged.model_validate_json(message.data)
                self.headers = dict(message.headers or {})
                if event.store_id == self._store_id:
                    return event


@asynccontextmanager
async def listen(nats_url: str, store: RunningStore) -> AsyncIterator[Heard]:
    client = await nats.connect(nats_url)
    jetstream = client.jetstream()
    async with asyncio.timeout(10):
        while True:
            try:
                subscription = await jetstream.subscribe(
                    KnowledgeChanged.subject,
                    stream=KnowledgeChanged.stream,
                    config=ConsumerConfig(deliver_policy=DeliverPolicy.ALL),
                )
                break
            except nats.js.errors.NotFoundError:
                await asyncio.sleep(0.05)
    yield Heard(subscription, (await store.status()).store_id)
    await client.close()


async def test_each_flip_is_announced_once(
    folder: KnowledgeFolder, fresh_database_url: str, embedder: FakeEmbedder, nats_url: str
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    async with run_store(fresh_database_url, embedder, nats_url) as store, listen(nats_url, store) as heard:
        assert (await heard.next()).is_empty
        await store.ingest(folder)
        filled = await heard.next()
        folder.write("sick.md", "# Sick leave\n\nCall by nine")
        await store.ingest(folder)
        folder.remove("leave.md")
        folder.remove("sick.md")
        report = await store.ingest(folder)
        emptied = await heard.next()
    assert (filled.is_empty, filled.knowledge_version) == (False, 1)
    assert (emptied.is_empty, emptied.knowledge_version) == (True, report.knowledge_version)
    assert heard.headers["ce-id"] == str(emptied.event_id)
    assert heard.headers["ce-type"] == KnowledgeChanged.subject


async def test_flip_made_while_no_service_ran_is_announced_at_the_next_start(
    folder: KnowledgeFolder, fresh_database_url: str, embedder: FakeEmbedder, nats_url: str
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    async with run_store(fresh_database_url, embedder) as store:
        await store.ingest(folder)
    async with run_store(fresh_database_url, embedder, nats_url) as store, listen(nats_url, store) as heard:
        assert not (await heard.next()).is_empty


async def test_store_starts_ingests_and_searches_without_the_bus(
    folder: KnowledgeFolder, fresh_database_url: str, embedder: FakeEmbedder
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    async with run_store(fresh_database_url, embedder, UNREACHABLE) as store:
        await store.ingest(folder)
        assert (await store.search("days of leave")).outcome == "hits"
        assert (await store.client.get("/readyz")).status_code == 200
