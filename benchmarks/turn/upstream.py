"""The scripted model, in a process of its own: an OpenAI-compatible stream of 64 one-token chunks at a given pace.

The model's name is its pace: `pace-5` sends a token each 5 ms. It searches once when tools are offered, unless the
question begins with "Hello".
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.turn.answer import answer_tokens, talk_tokens, tokens_of_the_first_sentence
from benchmarks.turn.calls import ModelCallTimes
from tests.support.openai_server import DONE, FINISH, USAGE, chunk, tool_call

FIRST_TOKEN_SECONDS = 0.020


class Upstream:
    """Remembers, by question, when each call came and when its parts were sent."""

    def __init__(self) -> None:
        self._answer = [chunk(content=token) for token in answer_tokens()]
        self._talk = [chunk(content=token) for token in talk_tokens()]
        self._spoken, self._decidable = tokens_of_the_first_sentence()
        self._calls: dict[str, list[ModelCallTimes]] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
                Route("/calls", self._hand_over),
                Route("/livez", lambda _request: JSONResponse({})),
            ]
        )

    async def _complete(self, request: Request) -> Response:
        arrived = time.monotonic()
        body = msgspec.json.decode(await request.body())
        question = body["messages"][-1]["content"]
        times = ModelCallTimes(question=question, arrived=arrived)
        self._calls.setdefault(question, []).append(times)
        if question.startswith("Hello"):
            pieces = self._talk
        elif "tools" in body:
            pieces = [tool_call("search_knowledge", json.dumps({"query": question}))]
        else:
            pieces = self._answer
        pace = float(body["model"].removeprefix("pace-")) / 1000
        return StreamingResponse(self._stream(pieces, pace, times), media_type="text/event-stream")

    async def _stream(self, pieces: list[bytes], pace: float, times: ModelCallTimes) -> AsyncIterator[bytes]:
        due = times.arrived + FIRST_TOKEN_SECONDS
        for at, piece in enumerate(pieces, start=1):
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += pace
            # Noted before it is sent: what our own process does with it afterwards is not the model's time.
            if at == min(self._spoken, len(pieces)):
                times.spoken = time.monotonic()
            if at == min(self._decidable, len(pieces)):
                times.decidable = time.monotonic()
            times.ended = time.monotonic()
            yield piece if at < len(pieces) else piece + FINISH + USAGE + DONE

    async def _hand_over(self, _request: Request) -> Response:
        calls, self._calls = self._calls, {}
        return Response(msgspec.json.encode([one for several in calls.values() for one in several]))


if __name__ == "__main__":
    uvicorn.run(Upstream().app(), port=int(sys.argv[1]), log_config=None, access_log=False)
