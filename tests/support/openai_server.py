"""An OpenAI-compatible endpoint whose every byte is scripted."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.http_server import serving


def chunk(**delta: object) -> bytes:
    return event(model="served-1", choices=[{"index": 0, "delta": delta}])


def event(**body: object) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def tool_call(name: str, arguments: str) -> bytes:
    return chunk(tool_calls=[{"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments}}])


FINISH = event(model="served-1", choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
USAGE = event(model="served-1", choices=[], usage={"prompt_tokens": 30, "completion_tokens": 5})
DONE = b"data: [DONE]\n\n"
ENDING = FINISH + USAGE + DONE


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    headers: dict[str, str] = field(default_factory=dict)


Script = int | Refusal | Sequence[bytes | asyncio.Event]


class OpenAiServer:
    """Each call takes the next script: a refusal, or pieces of a body. An event among the pieces is waited for."""

    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.disconnected = asyncio.Event()
        self._scripts: list[Script] = []

    def script(self, *scripts: Script) -> None:
        self._scripts.extend(scripts)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["OpenAiServer"]:
        app = Starlette(routes=[Route("/v1/chat/completions", self._complete, methods=["POST"])])
        async with serving(app) as url:
            self.url = f"{url}/v1"
            yield self

    async def _complete(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        self.keys.append(request.headers.get("authorization", ""))
        script = self._scripts.pop(0)
        if isinstance(script, int):
            script = Refusal(script)
        if isinstance(script, Refusal):
            body = {"error": {"message": "scripted"}}
            return JSONResponse(body, status_code=script.status, headers=script.headers)
        return StreamingResponse(self._body(script), media_type="text/event-stream")

    async def _body(self, pieces: Sequence[bytes | asyncio.Event]) -> AsyncIterator[bytes]:
        try:
            for piece in pieces:
                if isinstance(piece, asyncio.Event):
                    await piece.wait()
                else:
                    yield piece
        except asyncio.CancelledError:
            self.disconnected.set()
            raise
