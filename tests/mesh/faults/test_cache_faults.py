"""The candidate cache away, silent, slow, or answering garbage: a miss, and at most 0.2 s."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from services.chat_api.adapters.candidate_cache import CacheKey, CandidateCache
from services.chat_api.adapters.knowledge_client import KnowledgeClient
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from services.chat_api.use_cases.search_knowledge import SearchKnowledge
from shared.events import KnowledgeChanged
from shared.knowledge_contract import SearchResponse
from tests.support.factories import make_identity
from tests.support.front import make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import STORE_TOKEN, StubKnowledgeStore, make_hit
from tests.support.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-11")]

_LONGEST_SECONDS = 0.2
# The loop of a busy machine wakes late. The library's own limits are seconds.
_NOISE_SECONDS = 0.5
_KEY = CacheKey(query="leave", identity=make_identity(), store_id="stub", knowledge_version=1, top_k=8)
_FOUND = SearchResponse(outcome="hits", store_id="stub", knowledge_version=1, hits=(make_hit("28 days."),), withheld=())
_GARBAGE = (
    b"+OK\r\n",
    b":7\r\n",
    b"\x00\xff\xfe",
    b"$-5\r\n",
    b"-ERR no\r\n",
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"",
)


@asynccontextmanager
async def _cache(url: str, *, pause: float = 60) -> AsyncIterator[CandidateCache]:
    cache = CandidateCache(url, expire_after=timedelta(minutes=1), pause_after_fault=timedelta(seconds=pause))
    yield cache
    await cache.close()


@pytest_asyncio.fixture
async def proxy(redis_url: str) -> AsyncIterator[TcpProxy]:
    proxy = TcpProxy(redis_url)
    await proxy.start()
    yield proxy
    await proxy.stop()


async def _stored(redis_url: str) -> None:
    async with _cache(redis_url) as cache:
        await cache.put(_KEY, _FOUND)


def _take_away(proxy: TcpProxy, fault: str) -> None:
    if fault == "away":
        proxy.cut()
    elif fault == "silent":
        proxy.mute()
    else:
        proxy.delay(5)


async def _timed_get(cache: CandidateCache, key: CacheKey = _KEY) -> tuple[SearchResponse | None, float]:
    began = time.monotonic()
    found = await cache.get(key)
    return found, time.monotonic() - began


@pytest.mark.parametrize("connected", [True, False], ids=["connected", "new"])
@pytest.mark.parametrize("fault", ["away", "silent", "slow"])
async def test_a_cache_that_does_not_answer_is_a_miss_in_time_and_then_left_alone(
    proxy: TcpProxy, redis_url: str, fault: str, *, connected: bool
) -> None:
    await _stored(redis_url)
    async with _cache(proxy.through(redis_url)) as cache:
        if connected:
            assert await cache.get(_KEY) == _FOUND
        _take_away(proxy, fault)
        found, seconds = await _timed_get(cache)
        assert found is None
        assert seconds < _LONGEST_SECONDS + _NOISE_SECONDS
        proxy.mend()
        assert (await _timed_get(cache))[0] is None, "left alone for a while"
    async with _cache(proxy.through(redis_url)) as cache:
        assert await cache.get(_KEY) == _FOUND


@pytest.mark.parametrize("reply", _GARBAGE)
async def test_a_server_that_talks_garbage_is_a_miss_in_time(reply: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65_536):
            writer.write(reply)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with _cache(f"redis://127.0.0.1:{port}") as cache:
        found, seconds = await _timed_get(cache)
        await cache.put(_KEY, _FOUND)
    server.close()
    assert found is None
    assert seconds < _LONGEST_SECONDS + _NOISE_SECONDS


async def test_a_value_is_believed_only_under_its_own_key_and_identity(redis_url: str) -> None:
    await _stored(redis_url)
    others = (
        _KEY.model_copy(update={"identity": make_identity("hana")}),
        _KEY.model_copy(update={"identity": None}),
        _KEY.model_copy(update={"query": "pay"}),
        _KEY.model_copy(update={"knowledge_version": 2}),
        _KEY.model_copy(update={"store_id": "other"}),
    )
    redis = Redis.from_url(redis_url)
    value = await redis.get(_KEY.digest)
    assert isinstance(value, bytes)
    async with _cache(redis_url) as cache:
        for other in others:
            await redis.set(other.digest, value)
            assert await cache.get(other) is None, other
        for broken in (b"", b"{}", b"\xff", value[:-1], b"null", value.replace(b"28 days", b"99 days")[:-2]):
            await redis.set(_KEY.digest, broken)
            assert await cache.get(_KEY) is None, broken
        await redis.set(_KEY.digest, value)
        assert await cache.get(_KEY) == _FOUND, "an unreadable value is no reason to leave the cache alone"
    await redis.aclose()


class _SlowCache:
    """Answers each time just before it would be given up."""

    async def get(self, key: CacheKey) -> SearchResponse | None:
        await asyncio.sleep(_LONGEST_SECONDS - 0.02)
        return None

    async def put(self, key: CacheKey, response: SearchResponse) -> None:
        await asyncio.sleep(30)


async def test_reading_and_storing_together_cost_no_more(store: StubKnowledgeStore) -> None:
    store.holds("Leave is 28 days a year.")
    client = KnowledgeClient(store.url, STORE_TOKEN, timeout=timedelta(seconds=5), status_timeout=timedelta(seconds=5))
    state = KnowledgeState(client, _announce, fresh_for=timedelta(hours=1), now=lambda: datetime.now(UTC))
    search_knowledge = SearchKnowledge(client, state, _SlowCache(), top_k=8, timeout=timedelta(seconds=5))
    await state.current()
    began = time.monotonic()
    found = await search_knowledge.run("leave", make_identity())
    assert time.monotonic() - began < _LONGEST_SECONDS + _NOISE_SECONDS
    assert found.candidates
    await client.close()


async def _announce(_change: KnowledgeChanged) -> None: ...


@pytest.mark.parametrize("fault", ["away", "silent", "slow"])
async def test_a_turn_is_answered_without_its_cache(
    proxy: TcpProxy,
    database_url: str,
    nats_url: str,
    redis_url: str,
    store: StubKnowledgeStore,
    rows: Rows,
    fault: str,
) -> None:
    store.holds("Leave is 28 days a year.")
    model = ScriptedModel(
        *[reply for _ in range(2) for reply in (search("leave"), say("Leave is 28 days a year. [1]"))]
    )
    settings = make_front_settings(database_url, nats_url, proxy.through(redis_url), store.url)
    async with running_front(settings, model) as front, front.person() as anna:
        assert (await anna.ask("leave?")).outcome == "grounded"
        _take_away(proxy, fault)
        assert (await anna.ask("leave?")).outcome == "grounded"
    assert len(store.searches) == 2
    assert await rows.one("SELECT count(*) FROM chat.turns WHERE outcome = 'grounded'") == 2
