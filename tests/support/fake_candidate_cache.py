"""A candidate cache in memory, keyed by everything that the real one is keyed by."""

from services.chat_api.adapters.candidate_cache import CacheKey
from shared.knowledge_contract import SearchResponse


class FakeCandidateCache:
    def __init__(self) -> None:
        self.entries: dict[str, tuple[CacheKey, SearchResponse]] = {}

    async def get(self, key: CacheKey) -> SearchResponse | None:
        stored = self.entries.get(key.digest)
        return stored[1] if stored and stored[0] == key else None

    async def put(self, key: CacheKey, response: SearchResponse) -> None:
        self.entries[key.digest] = (key, response)
