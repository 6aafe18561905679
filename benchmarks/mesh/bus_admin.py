"""The bus as an operator handles it: consumers held back until everything lies in the stream, and then let go."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
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
_LOOK_SECONDS = 0.005


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
        """Let go of what the stream holds, until all of it is acknowledged; then hold the consumer back again."""
        cpu, wall = puller.cpu_seconds(), time.perf_counter()
        await self.let_go(stream, durable)
        while not await self._consumed(stream, durable):
            await asyncio.sleep(_LOOK_SECONDS)
        pace = Pace((time.perf_counter() - wall) / count, (puller.cpu_seconds() - cpu) / count)
        await self.hold(stream, durable)
        return pace

    async def _consumed(self, stream: str, durable: str) -> bool:
        state = await self._jetstream.consumer_info(stream, durable)
        return not state.num_pending and not state.num_ack_pending


@asynccontextmanager
async def bus_admin(url: str) -> AsyncIterator[BusAdmin]:
    client = await nats.connect(url, name="benchmark", pending_size=64 * 1024**2)
    await ensure_streams(client.jetstream(timeout=10), ALL_STREAMS)
    try:
        yield BusAdmin(client)
    finally:
        await client.close()
