"""The fused order of the candidates, before any floor."""

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.domain.access import principals_of
from services.knowledge_store.domain.candidates import make_question
from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.domain.fusion import fuse
from services.knowledge_store.storage.search_store import SearchStore
from services.knowledge_store.use_cases.measure_background import measure_background
from shared.identity import Identity


class FusedRanking:
    def __init__(self, engine: AsyncEngine, embedder: Embedder) -> None:
        self._engine = engine
        self._embedder = embedder

    async def __call__(self, query: str, identity: Identity) -> list[str]:
        """Record ids, best first."""
        background = await measure_background(self._embedder)
        question = make_question(query, await self._embedder.embed_query(query), background)
        async with self._engine.connect() as connection:
            store = SearchStore(connection)
            lexemes = await store.load_lexemes(question)
            found = await store.find_candidates(question, lexemes, principals_of(identity), readable=True)
        return [candidate.record_id for candidate in fuse(found)]
