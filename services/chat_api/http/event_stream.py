"""Server-sent events as one ASGI response, without a cost of its own for each of them (docs/spec/turn-cost.md)."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_PING = b": ping\n\n"


class EventStream(Response):
    """`frames` are sent as they come. In silence a comment keeps the line alive each `ping` seconds; a client that
    leaves, or takes nothing for `send_timeout` seconds, ends the stream and closes `frames`.

    A fault of `frames` is raised, so that the server breaks the connection off and the failure is seen.
    """

    media_type = "text/event-stream"

    def __init__(
        self, frames: AsyncGenerator[bytes, None], *, headers: Mapping[str, str], ping: float, send_timeout: float
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no", **headers})
        self._frames = frames
        self._ping = ping
        self._send_timeout = send_timeout
        self._sending_since: float | None = None
        self._last_sent = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._last_sent = time.monotonic()
        stream = asyncio.create_task(self._stream(send))
        gone = asyncio.create_task(_disconnected(receive))
        try:
            await self._accompany(stream, gone, send)
        finally:
            for task in (gone, stream):
                task.cancel()
            await asyncio.wait((gone, stream))
        if not stream.cancelled():
            stream.result()

    async def _stream(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:
            async for frame in frames:
                self._sending_since = time.monotonic()
                await send({"type": "http.response.body", "body": frame, "more_body": True})
                self._sending_since, self._last_sent = None, time.monotonic()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _accompany(self, stream: asyncio.Task[None], gone: asyncio.Task[None], send: Send) -> None:
        """Until the stream ends, or has to: one look now and then, instead of a timer for each frame."""
        look_every = min(self._ping, self._send_timeout) / 3
        while not stream.done() and not gone.done():
            await asyncio.wait((stream, gone), timeout=look_every, return_when=asyncio.FIRST_COMPLETED)
            now = time.monotonic()
            if self._sending_since is not None:
                if now - self._sending_since > self._send_timeout:
                    return
            elif now - self._last_sent >= self._ping and not stream.done():
                self._last_sent = now
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._send_timeout):
                        await send({"type": "http.response.body", "body": _PING, "more_body": True})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
