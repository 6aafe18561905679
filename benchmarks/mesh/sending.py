"""The relay and its floors, in a process of its own: how fast rows of the ledger come into the stream.

`python -m benchmarks.mesh.sending NATS_URL DATABASE_URL ROUNDS ROWS` prints a `Sent` as JSON for each round.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import msgspec

from benchmarks.mesh.bus_admin import BusAdmin, bus_admin
from benchmarks.mesh.events import usage_only
from benchmarks.mesh.ledger import Ledger, open_ledger, rows_of
from shared.database.engine import make_engine
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.bus import Bus
from shared.messaging.envelope import with_message_id
from shared.messaging.outbox import OutboxRow
from shared.messaging.relay import OutboxRelay, RelayPolicy
from tests.support.waiting import eventually

_POLICY = RelayPolicy()


class Sent(msgspec.Struct):
    """Rows a second of one round, by the clock."""

    one_by_one: float
    in_flight: float
    relay: float


class Sending:
    def __init__(self, bus: Bus, relay: OutboxRelay, ledger: Ledger, admin: BusAdmin) -> None:
        self._bus = bus
        self._relay = relay
        self._ledger = ledger
        self._admin = admin

    async def round(self, count: int) -> Sent:
        return Sent(
            one_by_one=await self._timed(count, self._publish_one_by_one),
            in_flight=await self._timed(count, self._publish_in_flight),
            relay=await self._timed(count, self._relay_all),
        )

    async def _timed(self, count: int, send: Callable[[Sequence[OutboxRow]], Awaitable[None]]) -> float:
        await self._admin.empty(SIGNAL_STREAM)
        await self._ledger.clear()
        rows = rows_of(usage_only((), count))
        await self._ledger.write(rows, due_in=timedelta(0))
        begun = time.perf_counter()
        await send(rows)
        taken = time.perf_counter() - begun
        held = await self._admin.messages_in(SIGNAL_STREAM)
        if held != count:
            raise SystemExit(f"{held} of {count} rows came into the stream: nothing is measured")
        return count / taken

    async def _publish_one_by_one(self, rows: Sequence[OutboxRow]) -> None:
        for row in rows:
            await self._publish(row)

    async def _publish_in_flight(self, rows: Sequence[OutboxRow]) -> None:
        """As many at once as the relay has under way."""
        waiting = iter(rows)

        async def publish_on() -> None:
            for row in waiting:
                await self._publish(row)

        await asyncio.gather(*(publish_on() for _ in range(2 * _POLICY.batch_size)))

    async def _relay_all(self, rows: Sequence[OutboxRow]) -> None:
        left = len(rows)
        while left:
            left -= await self._relay.send_backlog()

    async def _publish(self, row: OutboxRow) -> None:
        headers = with_message_id(row.headers, row.event_id, 1)
        await self._bus.publish(row.subject, row.payload, stream=row.stream, headers=headers)


async def main(nats_url: str, database_url: str, rounds: int, count: int) -> None:
    engine = make_engine(database_url, application_name="sending")
    bus = Bus(nats_url, name="sending")
    bus.start()
    await eventually(lambda: _is(bus.connected), within=30)
    async with open_ledger(database_url) as ledger, bus_admin(nats_url) as admin:
        sending = Sending(bus, OutboxRelay(engine, bus, _POLICY), ledger, admin)
        await sending.round(count // 5)
        for _ in range(rounds):
            print(msgspec.json.encode(await sending.round(count)).decode(), flush=True)
    await bus.stop()
    await engine.dispose()


async def _is(state: bool) -> bool:
    return state


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
