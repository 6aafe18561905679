"""The search tool goes through the candidate cache, and only where it may."""

from datetime import UTC, datetime, timedelta

import pytest

from services.chat_api.adapters.knowledge_client import KnowledgeClient, KnowledgeUnavailableError
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from services.chat_api.use_cases.search_knowledge import SearchKnowledge
from shared.events import KnowledgeChanged
from shared.identity import Identity
from shared.knowledge_contract import SearchResponse, StoreStatus
from tests.support.fake_candidate_cache import FakeCandidateCache
from tests.support.stub_knowledge_store import make_hit

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_ANNA = Identity(user_id="anna", display_name="Anna", groups=("staff",))


class _Store(KnowledgeClient):
    """Answers at the version that it has, and remembers what it was asked."""

    def __init__(self) -> None:
        self.version = 1
        self.status_fails = False
        self.search_fails = False
        self.asked: list[tuple[str, str | None]] = []

    async def status(self) -> StoreStatus:
        if self.status_fails:
            raise KnowledgeUnavailableError("timeout")
        return StoreStatus(store_id="s1", is_empty=False, knowledge_version=self.version)

    async def search(self, query: str, identity: Identity | None, *, top_k: int) -> SearchResponse:
        self.asked.append((query, identity.user_id if identity else None))
        if self.search_fails:
            raise KnowledgeUnavailableError("timeout")
        hit = make_hit(f"Version {self.version}.")
        return SearchResponse(outcome="hits", store_id="s1", knowledge_version=self.version, hits=(hit,))


class _Gate:
    def __init__(self, *, fresh_for: float = 3600) -> None:
        self.store = _Store()
        self.cache = FakeCandidateCache()
        state = KnowledgeState(
            self.store, _announce, fresh_for=timedelta(seconds=fresh_for), now=lambda: datetime(2026, 1, 1, tzinfo=UTC)
        )
        self._tool = SearchKnowledge(self.store, state, self.cache, top_k=8, timeout=timedelta(seconds=1))

    async def search(self, query: str = "leave", identity: Identity | None = _ANNA) -> tuple[str, bool]:
        """The text found, and whether it came from the cache."""
        result = await self._tool.run(query, identity)
        return result.candidates[0].text, result.cache_hit


async def _announce(_change: KnowledgeChanged) -> None: ...


@pytest.mark.req("CACHE-1", "CACHE-2")
async def test_the_second_search_comes_from_the_cache() -> None:
    gate = _Gate()
    assert await gate.search() == ("Version 1.", False)
    assert await gate.search() == ("Version 1.", True)
    assert gate.store.asked == [("leave", "anna")]


@pytest.mark.req("CACHE-3")
async def test_nobody_gets_what_another_identity_found() -> None:
    gate = _Gate()
    identities = (_ANNA, _ANNA.model_copy(update={"groups": ("hr", "staff")}), None)
    for identity in identities:
        assert await gate.search(identity=identity) == ("Version 1.", False)
    assert len(gate.cache.entries) == len(identities)


@pytest.mark.req("CACHE-4")
@pytest.mark.parametrize("wording", ["Leave", "leave?", "annual leave", "leave leave"])
async def test_another_wording_misses(wording: str) -> None:
    gate = _Gate()
    await gate.search()
    assert await gate.search(wording) == ("Version 1.", False)


@pytest.mark.req("CACHE-5")
async def test_a_version_learned_too_long_ago_is_read_again() -> None:
    gate = _Gate(fresh_for=0)
    await gate.search()
    gate.store.version = 2
    assert await gate.search() == ("Version 2.", False)


@pytest.mark.req("CACHE-5")
async def test_a_version_that_cannot_be_told_bypasses_the_cache() -> None:
    gate = _Gate(fresh_for=0)
    await gate.search()
    gate.store.status_fails = True
    assert await gate.search() == ("Version 1.", False)
    assert len(gate.store.asked) == 2


@pytest.mark.req("CACHE-5")
async def test_an_answer_of_another_version_than_was_asked_for_is_not_kept_and_makes_the_known_one_old() -> None:
    gate = _Gate()
    await gate.search("first")
    gate.store.version = 2
    assert await gate.search("second") == ("Version 2.", False)
    assert len(gate.cache.entries) == 1
    assert await gate.search("first") == ("Version 2.", False)


@pytest.mark.req("CACHE-6")
async def test_a_fault_is_not_cached() -> None:
    gate = _Gate()
    gate.store.search_fails = True
    with pytest.raises(KnowledgeUnavailableError):
        await gate.search()
    gate.store.search_fails = False
    assert await gate.search() == ("Version 1.", False)
