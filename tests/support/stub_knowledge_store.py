"""A Knowledge Store that answers what a test wants, over the real contract, and remembers who asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.identity import Identity
from shared.knowledge_contract import Hit, SearchRequest, SearchResponse, StoreStatus, Withheld
from tests.support.http_server import serving

STORE_TOKEN = "stub-token"


def make_hit(text: str, *, record_id: str = "handbook/leave.md", title: str = "Annual leave", rank: int = 1) -> Hit:
    return Hit(
        record_id=record_id,
        chunk_id=f"{record_id}#{rank}",
        title=title,
        text=text,
        url=f"/sources/{record_id}",
        source_system="Handbook",
        rank=rank,
        updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


class StubKnowledgeStore:
    def __init__(self) -> None:
        self.url = ""
        self.hits: tuple[Hit, ...] = ()
        self.withheld: tuple[Withheld, ...] = ()
        self.version = 1
        self.is_empty = False
        self.failing = False
        self.searches: list[SearchRequest] = []
        self.last_body = b""
        self.traceparents: list[str] = []

    @property
    def identities(self) -> list[Identity | None]:
        return [search.identity for search in self.searches]

    def forget(self) -> None:
        """As new, for the next test on the same front; what was cached of it is outdated."""
        self.hits, self.withheld, self.is_empty, self.failing = (), (), False, False
        self.version += 1
        self.searches.clear()

    def holds(self, *texts: str) -> None:
        """One record a text."""
        self.hits = tuple(
            make_hit(text, record_id=f"handbook/page-{at}.md", title=f"Page {at}", rank=at)
            for at, text in enumerate(texts, start=1)
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator["StubKnowledgeStore"]:
        routes = [Route("/v1/search", self._search, methods=["POST"]), Route("/v1/status", self._status)]
        async with serving(Starlette(routes=routes)) as url:
            self.url = url
            yield self

    async def _search(self, request: Request) -> Response:
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        self.traceparents.append(request.headers.get("traceparent", ""))
        self.last_body = await request.body()
        self.searches.append(SearchRequest.model_validate_json(self.last_body))
        response = SearchResponse(
            outcome=self._outcome(),
            store_id="stub",
            knowledge_version=self.version,
            hits=self.hits,
            withheld=self.withheld,
        )
        return Response(response.model_dump_json(), media_type="application/json")

    async def _status(self, request: Request) -> Response:
        status = StoreStatus(store_id="stub", is_empty=self.is_empty, knowledge_version=self.version)
        return self._refusal(request) or Response(status.model_dump_json(), media_type="application/json")

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("authorization") != f"Bearer {STORE_TOKEN}":
            return JSONResponse({"title": "unauthorized"}, status_code=401)
        return JSONResponse({"title": "broken"}, status_code=503) if self.failing else None

    def _outcome(self) -> str:
        if self.hits:
            return "mixed" if self.withheld else "hits"
        return "withheld" if self.withheld else "empty"
