"""The `search_knowledge` tool: through the candidate cache to the Knowledge Store, under the caller's identity."""

import asyncio
import time
from datetime import timedelta
from typing import Protocol

from services.chat_api.adapters.candidate_cache import CacheKey
from services.chat_api.adapters.knowledge_client import KnowledgeClient, KnowledgeUnavailableError
from services.chat_api.domain.hint import HintSource
from services.chat_api.domain.ranking import Candidate
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE_TOOL
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from services.chat_api.use_cases.tools import ToolResult
from shared.identity import Identity
from shared.knowledge_contract import Hit, SearchResponse

# What reading and storing may cost one search together.
_CACHE_SECONDS = 0.2


class Candidates(Protocol):
    """A cache of search results: what it returns was stored under an equal key, and it never fails a turn."""

    async def get(self, key: CacheKey) -> SearchResponse | None:
        """None for a miss, and whenever there is any doubt."""

    async def put(self, key: CacheKey, response: SearchResponse) -> None: ...


class SearchKnowledge:
    spec = SEARCH_KNOWLEDGE_TOOL

    def __init__(
        self, client: KnowledgeClient, state: KnowledgeState, cache: Candidates, *, top_k: int, timeout: timedelta
    ) -> None:
        self._client = client
        self._state = state
        self._cache = cache
        self._top_k = top_k
        self._keeping: set[asyncio.Task[None]] = set()
        self.timeout = timeout

    async def run(self, query: str, identity: Identity | None) -> ToolResult:
        """Raises KnowledgeUnavailableError. Only answers are cached, never faults."""
        started = time.monotonic()
        key = await self._key(query, identity)
        looked_up = time.monotonic()
        response = await self._cache.get(key) if key else None
        left = _CACHE_SECONDS - (time.monotonic() - looked_up)
        hit = response is not None
        if response is None:
            response = await self._client.search(query, identity, top_k=self._top_k)
            self._state.note(response.store_id, response.knowledge_version)
            if key and response.knowledge_version == key.knowledge_version:
                await self._keep(key, response, left)
        return _result(response, cache_hit=hit, elapsed_ms=round((time.monotonic() - started) * 1000))

    async def _keep(self, key: CacheKey, response: SearchResponse, seconds: float) -> None:
        """Waits no longer than what reading has left of the cache's time; a slow cache stores it later."""
        task = asyncio.create_task(self._cache.put(key, response))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)
        await asyncio.wait((task,), timeout=max(0.0, seconds))

    async def _key(self, query: str, identity: Identity | None) -> CacheKey | None:
        """None when the store's version cannot be told: then the cache is bypassed."""
        try:
            status = await self._state.current()
        except KnowledgeUnavailableError:
            return None
        return CacheKey(
            query=query,
            identity=identity,
            store_id=status.store_id,
            knowledge_version=status.knowledge_version,
            top_k=self._top_k,
        )


def _result(response: SearchResponse, *, cache_hit: bool, elapsed_ms: int) -> ToolResult:
    return ToolResult(
        candidates=tuple(_candidate(hit) for hit in response.hits),
        withheld=tuple(HintSource(source_system=one.source_system, contact=one.contact) for one in response.withheld),
        store_id=response.store_id,
        knowledge_version=response.knowledge_version,
        cache_hit=cache_hit,
        elapsed_ms=elapsed_ms,
    )


def _candidate(hit: Hit) -> Candidate:
    return Candidate(
        record_id=hit.record_id,
        chunk_id=hit.chunk_id,
        title=hit.title,
        text=hit.text,
        url=hit.url,
        source_system=hit.source_system,
        rank=hit.rank,
        updated_at=hit.updated_at,
    )
