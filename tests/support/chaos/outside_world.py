"""What lies outside Achilles, as one process: an OpenAI-compatible model and a Knowledge Store, both deterministic.

`python -m tests.support.chaos.outside_world PORT`
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from shared.knowledge_contract import Hit, SearchRequest, SearchResponse, StoreStatus
from tests.support.chaos.handbook import answer_to, is_greeting, pages_for
from tests.support.openai_server import DONE, FINISH, chunk, event, tool_call
from tests.support.stub_knowledge_store import make_hit

_STORE_ID = "outside"
_VERSION = 7
_PIECE_CHARS = 12
_PIECE_SECONDS = 0.03


def _hits(query: str) -> tuple[Hit, ...]:
    return tuple(
        make_hit(page.sentence, record_id=page.record_id, title=page.title, rank=rank)
        for rank, page in enumerate(pages_for(query), start=1)
    )


async def _search(request: Request) -> Response:
    hits = _hits(SearchRequest.model_validate_json(await request.body()).query)
    found = SearchResponse(
        outcome="hits" if hits else "empty", store_id=_STORE_ID, knowledge_version=_VERSION, hits=hits
    )
    return Response(found.model_dump_json(), media_type="application/json")


async def _status(_request: Request) -> Response:
    status = StoreStatus(store_id=_STORE_ID, is_empty=False, knowledge_version=_VERSION)
    return Response(status.model_dump_json(), media_type="application/json")


async def _complete(request: Request) -> Response:
    body = await request.json()
    question = str(body["messages"][-1]["content"])
    return StreamingResponse(_reply(body, question), media_type="text/event-stream")


async def _reply(body: dict[str, Any], question: str) -> AsyncIterator[bytes]:
    if "tools" in body and not is_greeting(question):
        yield tool_call("search_knowledge", json.dumps({"query": question}))
        yield FINISH + _usage(11, 3) + DONE
        return
    text = answer_to(question)
    for at in range(0, len(text), _PIECE_CHARS):
        yield chunk(content=text[at : at + _PIECE_CHARS])
        await asyncio.sleep(_PIECE_SECONDS)
    yield FINISH + _usage(101, 29) + DONE


def _usage(input_tokens: int, output_tokens: int) -> bytes:
    usage = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}
    return event(model="served-1", choices=[], usage=usage)


async def _ready(_request: Request) -> Response:
    return JSONResponse({"status": "ready"})


def create_app() -> Starlette:
    return Starlette(
        routes=[
            Route("/v1/chat/completions", _complete, methods=["POST"]),
            Route("/v1/search", _search, methods=["POST"]),
            Route("/v1/status", _status),
            Route("/readyz", _ready),
        ]
    )


if __name__ == "__main__":
    uvicorn.run(create_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
