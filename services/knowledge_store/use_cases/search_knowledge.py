"""Search: both legs under rights, fused, above the floor, in one snapshot of the database."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.knowledge_store.domain.access import principals_of
from services.knowledge_store.domain.background import Background
from services.knowledge_store.domain.candidates import Candidate, make_question
from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.domain.fusion import NO_TRUST
from services.knowledge_store.domain.outcome import name_outcome, select_hits, select_withheld
from services.knowledge_store.domain.trust import TrustRule
from services.knowledge_store.storage.search_store import SearchStore
from services.knowledge_store.storage.state_store import StateStore
from services.knowledge_store.storage.trust_store import TrustStore
from shared.knowledge_contract import SearchRequest, SearchResponse
from shared.tracing import span


class SearchService:
    """`snapshots` opens read-only transactions of one snapshot: the version belongs to exactly these hits.

    Without a `trust_rule` trust takes no part in the ranking.
    """

    def __init__(
        self,
        snapshots: AsyncEngine,
        embedder: Embedder,
        background: Background,
        *,
        trust_rule: TrustRule | None,
        now: Callable[[], datetime],
    ) -> None:
        self._snapshots = snapshots
        self._trust_rule = trust_rule
        self._now = now
        self._embedder = embedder
        self._background = background

    async def search(self, request: SearchRequest) -> SearchResponse:
        with span("retrieval", {"gen_ai.operation.name": "retrieval", "gen_ai.request.top_k": request.top_k}) as opened:
            response = await self._search(request)
            opened.note(
                {
                    "gen_ai.data_source.id": response.store_id,
                    "achilles.search.outcome": response.outcome,
                    "achilles.search.candidates": len(response.hits),
                    "achilles.search.withheld": len(response.withheld),
                }
            )
        return response

    async def _search(self, request: SearchRequest) -> SearchResponse:
        with span("embeddings", {"gen_ai.operation.name": "embeddings"}):
            embedding = await self._embedder.embed_query(request.query)
        question = make_question(request.query, embedding, self._background)
        principals = principals_of(request.identity)
        async with self._snapshots.connect() as connection:
            state = await StateStore(connection).load()
            store = SearchStore(connection)
            lexemes = await store.load_lexemes(question)
            readable = await store.find_candidates(question, lexemes, principals, readable=True)
            unreadable = await store.find_candidates(question, lexemes, principals, readable=False)
            trust = await self._trust_of(connection, readable)
            chosen = select_hits(question, readable, request.top_k, trust)
            hits = await store.load_hits([candidate.chunk_id for candidate in chosen])
            withheld = await store.load_withheld(select_withheld(question, unreadable, readable))
        return SearchResponse(
            outcome=name_outcome(has_hits=bool(hits), has_withheld=bool(withheld)),
            store_id=state.store_id,
            knowledge_version=state.knowledge_version,
            hits=tuple(hits),
            withheld=tuple(withheld),
        )

    async def _trust_of(self, connection: AsyncConnection, readable: Sequence[Candidate]) -> Mapping[str, float]:
        """What each candidate's record is trusted now."""
        rule = self._trust_rule
        if rule is None or not readable:
            return NO_TRUST
        found = await TrustStore(connection).load({candidate.record_id for candidate in readable})
        now = self._now()
        return {record_id: rule.at(trust, now) for record_id, trust in found.items()}
