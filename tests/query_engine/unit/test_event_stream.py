"""The response that streams events: what its client sees, and when it ends."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message

from services.chat_api.adapters.silence import SilenceLimit
from services.chat_api.http.event_stream import EventStream
from tests.support.waiting import eventually

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_LONG = 60.0


class Client:
    """The other end of a response: takes what is sent, and leaves when told."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.leaves = asyncio.Event()

    async def receive(self) -> Message:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])


class Frames:
    """Two frames and then silence, or an end, or a fault."""

    def __init__(self, *, silent: bool = False, fault: Exception | None = None) -> None:
        self.closed = False
        self._silent = silent
        self._fault = fault

    async def stream(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"data: 1\n\n"
            yield b"data: 2\n\n"
            if self._silent:
                await asyncio.Event().wait()
            if self._fault:
                raise self._fault
        finally:
            self.closed = True


async def serve(frames: Frames, client: Client, *, ping: float = _LONG, send_timeout: float = _LONG) -> None:
    response = EventStream(frames.stream(), headers={"x-kind": "v1"}, ping=ping, send_timeout=send_timeout)
    async with asyncio.timeout(20):
        await response({"type": "http"}, client.receive, client.send)


async def test_frames_arrive_in_order_and_the_body_ends() -> None:
    client = Client()
    await serve(Frames(), client)
    assert client.body == b"data: 1\n\ndata: 2\n\n"
    assert client.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    headers = dict(client.sent[0]["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert headers[b"x-accel-buffering"] == b"no"
    assert headers[b"x-kind"] == b"v1"


async def test_a_client_that_leaves_closes_the_frames() -> None:
    client, frames = Client(), Frames(silent=True)
    served = asyncio.create_task(serve(frames, client))
    await asyncio.sleep(0)
    client.leaves.set()
    await served
    assert frames.closed


async def test_silence_is_filled_with_comments() -> None:
    client, frames = Client(), Frames(silent=True)
    served = asyncio.create_task(serve(frames, client, ping=0.05))

    async def pings() -> int:
        return client.body.count(b": ping\n\n")

    await eventually(pings, until=lambda count: count >= 2, within=10)
    client.leaves.set()
    await served


async def test_a_client_that_takes_nothing_is_given_up() -> None:
    client, frames = Client(), Frames()
    response = EventStream(frames.stream(), headers={}, ping=_LONG, send_timeout=0.05)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async with asyncio.timeout(20):
        await response({"type": "http"}, client.receive, send)
    assert frames.closed


async def test_a_fault_of_the_frames_breaks_the_response_off() -> None:
    client = Client()
    with pytest.raises(RuntimeError, match="broken"):
        await serve(Frames(fault=RuntimeError("broken")), client)
    assert client.sent[-1]["more_body"]


async def test_a_cancelled_response_closes_its_frames() -> None:
    client, frames = Client(), Frames(silent=True)
    served = asyncio.create_task(serve(frames, client))

    async def both_sent() -> bool:
        return len(client.sent) == 3

    await eventually(both_sent)
    served.cancel()
    with pytest.raises(asyncio.CancelledError):
        await served
    assert frames.closed


async def test_only_time_in_which_somebody_listens_counts_as_silence() -> None:
    silent = asyncio.Event()
    with SilenceLimit(0.05, silent.set) as limit:
        limit.pause()
        await asyncio.sleep(0.2)
        assert not silent.is_set()
        limit.listen()
        async with asyncio.timeout(10):
            await silent.wait()
