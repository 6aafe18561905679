"""The stub Knowledge Store, in a process of its own: eight passages, for every question.

A question with an `edition` gets passages that nobody has seen before; the text that supports the answer is the same.
"""

import re
import sys
from datetime import UTC, datetime

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks.turn.answer import passages
from services.chat_api.domain.passages import Passage

_EDITION = re.compile(r"edition \d+")
_UPDATED_AT = datetime(2026, 1, 1, tzinfo=UTC)


async def _search(request: Request) -> Response:
    query = msgspec.json.decode(await request.body())["query"]
    edition = _EDITION.search(query)
    note = f"\nThis page is {edition.group()}." if edition else ""
    hits = [_hit(passage, rank, note) for rank, passage in enumerate(passages_held, start=1)]
    body = {"outcome": "hits", "store_id": "stub", "knowledge_version": 1, "hits": hits, "withheld": []}
    return Response(msgspec.json.encode(body), media_type="application/json")


def _hit(passage: Passage, rank: int, note: str) -> dict[str, object]:
    return {
        "record_id": passage.record_id,
        "chunk_id": passage.chunk_id,
        "title": passage.title,
        "text": passage.text + note,
        "url": passage.url,
        "source_system": passage.source_system,
        "rank": rank,
        "updated_at": _UPDATED_AT,
    }


async def _status(_request: Request) -> Response:
    return JSONResponse({"store_id": "stub", "is_empty": False, "knowledge_version": 1})


async def _livez(_request: Request) -> Response:
    return JSONResponse({})


if __name__ == "__main__":
    passages_held = passages()
    routes = [Route("/v1/search", _search, methods=["POST"]), Route("/v1/status", _status), Route("/livez", _livez)]
    uvicorn.run(Starlette(routes=routes), port=int(sys.argv[1]), log_config=None, access_log=False)
