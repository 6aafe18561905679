"""The floor, in a process of its own: Starlette and httpx pass the model's stream on, and nothing else."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


def make_relay(upstream_url: str) -> Starlette:
    client = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with client:
            yield

    async def relay(request: Request) -> Response:
        body = await request.body()
        return StreamingResponse(stream(body), media_type="text/event-stream")

    async def stream(body: bytes) -> AsyncIterator[bytes]:
        headers = {"content-type": "application/json"}
        async with client.stream("POST", upstream_url, content=body, headers=headers) as response:
            async for data in response.aiter_raw():
                yield data

    async def livez(_request: Request) -> Response:
        return JSONResponse({})

    return Starlette(routes=[Route("/relay", relay, methods=["POST"]), Route("/livez", livez)], lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(make_relay(sys.argv[2]), port=int(sys.argv[1]), log_config=None, access_log=False)
