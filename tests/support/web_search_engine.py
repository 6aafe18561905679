"""A SearXNG-compatible search engine over a real socket that answers what a test wants and keeps what it was sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.support.http_server import serving


class WebSearchEngine:
    def __init__(self) -> None:
        self.url = ""
        self.rows: list[dict[str, object]] = []
        self.status = 200
        self.raw: bytes | None = None
        self.redirect_to = ""
        self.wait_for: asyncio.Event | None = None
        self.queries: list[str] = []
        self.requests: list[dict[str, str]] = []

    def finds(self, *texts: str) -> None:
        """One page a text."""
        self.rows = [
            {"url": f"https://web.example/{at}", "title": f"Web page {at}", "content": text}
            for at, text in enumerate(texts, start=1)
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator["WebSearchEngine"]:
        routes = [Route("/search", self._search), Route("/elsewhere", self._elsewhere)]
        async with serving(Starlette(routes=routes)) as url:
            self.url = url
            yield self

    async def _search(self, request: Request) -> Response:
        self.queries.append(request.query_params["q"])
        self.requests.append({"query_string": request.url.query, **dict(request.headers)})
        if self.wait_for:
            await self.wait_for.wait()
        if self.redirect_to:
            return RedirectResponse(self.redirect_to)
        if self.raw is not None:
            return Response(self.raw, media_type="application/json")
        body = {"query": "q", "results": self.rows}
        response = JSONResponse(body, status_code=self.status)
        response.set_cookie("preferences", "traceable")
        return response

    async def _elsewhere(self, request: Request) -> Response:
        raise AssertionError("a redirect was followed")
