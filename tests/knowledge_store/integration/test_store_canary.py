"""A canary goes through the store's own consumer, and health of the front shows when it does not."""

import nats
import pytest

from services.knowledge_store.main import create_app
from services.signal_worker.main import create_app as create_signal_worker
from services.signal_worker.settings import SignalWorkerSettings
from shared.events import SignalCanary
from shared.events.streams import SIGNAL_STREAM
from tests.support.events import AT, publish
from tests.support.fake_embedder import FakeEmbedder
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.http_server import serving
from tests.support.knowledge_store import TOKEN, make_settings, run_store
from tests.support.rows import Rows
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_CANARY_EVERY = 0.4
_LEG = "consumer:knowledge_store"


async def _reason(front: RunningFront) -> str:
    async with front.person("olga") as olga:
        body = (await olga.client.get("/api/v1/loop/health")).json()
    reasons: dict[str, str] = {leg["name"]: leg["reason"] for leg in body["legs"]}
    return reasons.get(_LEG, "not judged")


@pytest.mark.req("MESH-8")
async def test_the_stores_consumer_turns_red_when_it_stands_still_and_green_when_it_goes_on(
    database_url: str, fresh_database_url: str, nats_url: str, redis_url: str, rows: Rows, embedder: FakeEmbedder
) -> None:
    worker = {"database_url": database_url, "nats_url": nats_url}
    client = await nats.connect(nats_url)
    jetstream = client.jetstream()
    async with (
        serving(create_app(make_settings(fresh_database_url, nats_url), embedder)) as store_url,
        serving(create_signal_worker(SignalWorkerSettings.model_validate(worker))),
        running_front(
            make_front_settings(
                database_url,
                nats_url,
                redis_url,
                store_url,
                knowledge_token=TOKEN,
                canary_every=_CANARY_EVERY,
                outbox_retry_after=1,
            )
        ) as front,
    ):
        await eventually(lambda: _reason(front), until=lambda reason: reason == "works", within=60)
        await jetstream.pause_consumer(SIGNAL_STREAM, "knowledge_store", "2099-01-01T00:00:00Z")
        await eventually(lambda: _reason(front), until=lambda reason: reason == "arrives_late", within=60)
        await jetstream.resume_consumer(SIGNAL_STREAM, "knowledge_store")
        await eventually(lambda: _reason(front), until=lambda reason: reason == "works", within=60)
    await client.close()
    assert await rows.count("mesh.dead_letters") == 0


async def test_a_canary_moves_no_trust_and_an_older_or_broken_one_changes_nothing(
    fresh_database_url: str, nats_url: str, embedder: FakeEmbedder
) -> None:
    client = await nats.connect(nats_url)
    jetstream = client.jetstream()
    newest = SignalCanary(occurred_at=AT)
    async with run_store(fresh_database_url, embedder, nats_url) as store:
        assert (await store.status()).canary_at is None
        await eventually(lambda: _consumers(jetstream), until=lambda names: "knowledge_store" in names)
        await publish(jetstream, newest)
        await eventually(store.status, until=lambda status: status.canary_at == AT)
        await jetstream.publish(SignalCanary.subject, b"{", stream=SIGNAL_STREAM)
        await publish(jetstream, SignalCanary(occurred_at=AT.replace(year=2025)))
        await eventually(lambda: _unacknowledged(jetstream), until=lambda left: left == 0)
        assert (await store.status()).canary_at == AT
    await client.close()


async def _consumers(jetstream: nats.js.JetStreamContext) -> list[str]:
    try:
        return [info.name for info in await jetstream.consumers_info(SIGNAL_STREAM)]
    except nats.js.errors.NotFoundError:
        return []


async def _unacknowledged(jetstream: nats.js.JetStreamContext) -> int:
    info = await jetstream.consumer_info(SIGNAL_STREAM, "knowledge_store")
    return int(info.num_pending or 0) + int(info.num_ack_pending or 0)
