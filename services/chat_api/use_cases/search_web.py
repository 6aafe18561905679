"""The `web_search` tool. All that leaves the company is the query that the model wrote."""

import time
from datetime import timedelta
from urllib.parse import urlsplit

from services.chat_api.adapters.web_search import WebResult, WebSearchClient
from services.chat_api.domain.ranking import Candidate
from services.chat_api.domain.tool_calls import WEB_SEARCH_TOOL
from services.chat_api.use_cases.tools import ToolResult
from shared.identity import Identity

# No engine needs more, and a pasted document must not leave the company as a query.
_MOST_QUERY_CHARS = 400


class SearchWeb:
    spec = WEB_SEARCH_TOOL

    def __init__(self, client: WebSearchClient, *, top_k: int, timeout: timedelta) -> None:
        self._client = client
        self._top_k = top_k
        self.timeout = timeout

    async def run(self, query: str, identity: Identity | None) -> ToolResult:
        """Raises WebUnavailableError. The identity stays here: the web has no rights to apply."""
        started = time.monotonic()
        results = await self._client.search(query[:_MOST_QUERY_CHARS], at_most=self._top_k)
        return ToolResult(
            candidates=tuple(_candidate(rank, result) for rank, result in enumerate(results, start=1)),
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )


def _candidate(rank: int, result: WebResult) -> Candidate:
    return Candidate(
        record_id=result.url,
        chunk_id=f"{result.url}#result",
        title=result.title,
        text=result.text,
        url=result.url,
        source_system=urlsplit(result.url).hostname or "web",
        rank=rank,
        origin="web",
    )
