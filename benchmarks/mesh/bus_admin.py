"""The bus as an operator handles it: consumers held back until everything lies in the stream, and then let go."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import nats
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig

from benchmarks.turn.processes import Child
from shared.events.streams import ALL_STREAMS
from shared.messaging.outbox import OutboxRow
from shared.messaging.provisioning import ensure_streams
from tests.support.waiting import eventually

_FOR_NOW = "2099-01-01T00:00:00Z"
_LOOK_SECONDS = 0.01
_AT_MOST_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Of one arm in one round, in seconds a message. `cpu` is its own process's alone."""

    wall: float
    cpu: float


class BusAdmin:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._jetstream: JetStreamContext = client.jetstream(timeout=10)

    async def make_consumer(self, stream: str, durable: str, subjects: Sequence[str]) -> None:
        config = ConsumerConfig(durable_name=durable, filter_subjects=list(subjects), max_ack_pending=10_000)
        await self._jetstream.add_consumer(stream, config)

    async def wait_for_puller(self, stream: str, durable: str) -> None:
        """Until somebody asks this consumer for messages."""

        async def pulling() -> bool:
            try:
                return bool((await self._jetstream.consumer_info(stream, durable)).num_waiting)
            except nats.js.errors.NotFoundError:
                return False

        await eventually(pulling, until=bool, within=60)

    async def empty(self, stream: str) -> None:
        await self._jetstream.purge_stream(stream)

    async def hold(self, stream: str, durable: str) -> None:
        await self._jetstream.pause_consumer(stream, durable, _FOR_NOW)

    async def let_go(self, stream: str, durable: str) -> None:
        await self._jetstream.resume_consumer(stream, durable)

    async def fill(self, stream: str, rows: Sequence[OutboxRow]) -> None:
        """Everything lies in the stream when this returns."""
        before = await self.messages_in(stream)
        for row in rows:
            await self._client.publish(row.subject, row.payload, headers=row.headers)
        await self._client.flush(30)
        await eventually(lambda: self.messages_in(stream), until=lambda held: held >= before + len(rows), within=60)

    async def messages_in(self, stream: str) -> int:
        return (await self._jetstream.stream_info(stream)).state.messages

    async def time_consuming(self, stream: str, durable: str, puller: Child, count: int) -> Pace:
        """Let go of what the stream holds, until all of it is acknowledged; then hold the consumer back again.

        A pull that waits while its consumer is let go is not served, so the clock starts with the first message.
        """
        await self.let_go(stream, durable)
        left = await self._until_left(stream, durable, lambda left: left < count)
        cpu, wall = puller.cpu_seconds(), time.perf_counter()
        await self._until_left(stream, durable, lambda left: not left)
        pace = Pace((time.perf_counter() - wall) / left, (puller.cpu_seconds() - cpu) / left)
        await self.hold(stream, durable)
        return pace

    async def _until_left(self, stream: str, durable: str, reached: Callable[[int], bool]) -> int:
        deadline = time.monotonic() + _AT_MOST_SECONDS
        while not reached(left := await self._left(stream, durable)):
            if time.monotonic() > deadline:
                raise SystemExit(f"{durable} does not go on with {left} messages left: nothing is measured")
            await asyncio.sleep(_LOOK_SECONDS)
        return left

    async def _left(self, stream: str, durable: str) -> int:
        """Messages that are not acknowledged yet."""
        state = await self._jetstream.consumer_info(stream, durable)
        return int(state.num_pending or 0) + int(state.num_ack_pending or 0)


@asynccontextmanager
async def bus_admin(url: str) -> AsyncIterator[BusAdmin]:
    client = await nats.connect(url, name="benchmark", pending_size=64 * 1024**2)
    await ensure_streams(client.jetstream(timeout=10), ALL_STREAMS)
    try:
        yield BusAdmin(client)
    finally:
        await client.close()
