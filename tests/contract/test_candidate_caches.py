"""What every candidate cache keeps to: the real one over Valkey, and the fake."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from services.chat_api.adapters.candidate_cache import CacheKey, CandidateCache
from services.chat_api.use_cases.search_knowledge import Candidates
from shared.identity import Identity
from shared.knowledge_contract import SearchResponse
from tests.support.fake_candidate_cache import FakeCandidateCache
from tests.support.stub_knowledge_store import make_hit

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_ANNA = Identity(user_id="anna", display_name="Anna", groups=("staff",), department="Engineering")
_FOUND = SearchResponse(outcome="hits", store_id="s1", knowledge_version=3, hits=(make_hit("Text."),))


def _key(**changed: object) -> CacheKey:
    return CacheKey(query="leave", identity=_ANNA, store_id="s1", knowledge_version=3, top_k=8).model_copy(
        update=changed
    )


@pytest_asyncio.fixture(params=["fake", "valkey"])
async def cache(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[Candidates]:
    if request.param == "fake":
        yield FakeCandidateCache()
        return
    real = CandidateCache(redis_url, expire_after=timedelta(minutes=1), pause_after_fault=timedelta(seconds=5))
    yield real
    await real.close()


@pytest.mark.req("CACHE-2")
async def test_what_was_put_is_got_back_whole(cache: Candidates) -> None:
    assert await cache.get(_key()) is None
    await cache.put(_key(), _FOUND)
    assert await cache.get(_key()) == _FOUND


@pytest.mark.req("CACHE-3", "CACHE-4", "CACHE-5")
@pytest.mark.parametrize(
    "changed",
    [
        {"query": "Leave"},
        {"query": "leave "},
        {"identity": None},
        {"identity": _ANNA.model_copy(update={"user_id": "hana"})},
        {"identity": _ANNA.model_copy(update={"groups": ("hr", "staff")})},
        {"identity": _ANNA.model_copy(update={"groups": ()})},
        {"identity": _ANNA.model_copy(update={"department": None})},
        {"identity": _ANNA.model_copy(update={"roles": ("user", "admin")})},
        {"store_id": "s2"},
        {"knowledge_version": 4},
        {"top_k": 9},
    ],
)
async def test_anything_else_misses(cache: Candidates, changed: dict[str, object]) -> None:
    await cache.put(_key(), _FOUND)
    assert await cache.get(_key(**changed)) is None
