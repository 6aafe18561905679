"""The candidate cache when it lies, is down, or stands still: a turn waits at most a fifth of a second, and once."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from services.chat_api.adapters.candidate_cache import CacheKey, CandidateCache
from shared.identity import Identity
from shared.knowledge_contract import SearchResponse
from tests.support.front import make_front_settings, running_front
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore, make_hit

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_FOUND = SearchResponse(outcome="hits", store_id="s1", knowledge_version=3, hits=(make_hit("Text."),))


def _key(user_id: str = "anna") -> CacheKey:
    identity = Identity(user_id=user_id, display_name=user_id)
    return CacheKey(query="leave", identity=identity, store_id="s1", knowledge_version=3, top_k=8)


@asynccontextmanager
async def _cache(url: str, *, pause: float = 60) -> AsyncIterator[CandidateCache]:
    cache = CandidateCache(url, expire_after=timedelta(minutes=1), pause_after_fault=timedelta(seconds=pause))
    yield cache
    await cache.close()


class _StandingStill:
    """Takes connections and never answers."""

    def __init__(self) -> None:
        self.url = ""
        self.connections = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator["_StandingStill"]:
        server = await asyncio.start_server(self._hold, "127.0.0.1", 0)
        self.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield self
        server.close()

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await reader.read(1_000):
                pass
        finally:
            writer.close()


@pytest.mark.req("CACHE-6")
async def test_a_cache_that_stands_still_costs_its_short_time_once() -> None:
    async with _StandingStill().running() as still, _cache(still.url) as cache:
        began = time.monotonic()
        assert await cache.get(_key()) is None
        first = time.monotonic() - began
        for _ in range(50):
            assert await cache.get(_key()) is None
            await cache.put(_key(), _FOUND)
        rest = time.monotonic() - began - first
        assert still.connections == 1
    # A fifth of a second each would be twenty seconds; the margin is for a busy machine.
    assert first < 2
    assert rest < 2


@pytest.mark.req("CACHE-6")
async def test_a_cache_that_came_back_is_used_again(redis_url: str) -> None:
    async with _StandingStill().running() as still, _cache(still.url, pause=0) as cache:
        await cache.get(_key())
        await cache.get(_key())
        assert still.connections == 2
    async with _cache(redis_url, pause=0) as cache:
        await cache.put(_key(), _FOUND)
        assert await cache.get(_key()) == _FOUND


@pytest.mark.req("CACHE-6")
@pytest.mark.parametrize("kind", ["down", "still"])
async def test_a_turn_goes_on_without_its_cache(
    database_url: str, nats_url: str, store: StubKnowledgeStore, kind: str
) -> None:
    store.holds(_LEAVE)
    model = ScriptedModel(search("leave"), say(f"{_LEAVE} [1]"))
    async with _StandingStill().running() as still:
        url = still.url if kind == "still" else "redis://127.0.0.1:9"
        settings = make_front_settings(database_url, nats_url, url, store.url)
        async with running_front(settings, model) as front, front.person() as anna:
            assert (await anna.ask("leave?")).outcome == "grounded"


@pytest.mark.req("CACHE-6")
async def test_a_failed_search_is_not_cached(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    store.failing = True
    model = ScriptedModel(search("leave"), search("leave"), say(f"{_LEAVE} [1]"))
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    async with running_front(settings, model) as front, front.person() as anna:
        assert (await anna.ask("leave?")).error_code == "knowledge_unavailable"
        store.failing = False
        assert (await anna.ask("leave?")).outcome == "grounded"


@pytest.mark.req("CACHE-3")
async def test_a_value_under_a_key_that_is_not_its_own_is_not_served(redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    async with _cache(redis_url) as cache:
        await cache.put(_key("hana"), _FOUND)
        for value in (await redis.get(_key("hana").digest) or b"", b"no entry at all", b"{}"):
            await redis.set(_key("anna").digest, value)
            assert await cache.get(_key("anna")) is None
        assert await cache.get(_key("hana")) == _FOUND
        assert 0 < await redis.ttl(_key("hana").digest) <= 60
    await redis.aclose()
