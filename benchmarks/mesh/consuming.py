"""PERF-6: the whole way through the real worker, against a bare pull and a handler that writes one row a message.

Each arm finds the same kind of messages in its stream, held back until all lie there. The ledger holds them too.
"""

import statistics
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from benchmarks.mesh.bus_admin import Pace
from benchmarks.mesh.events import signals_of_turns, traces_of_turns, usage_only
from benchmarks.mesh.ledger import rows_of
from benchmarks.mesh.stage import MeshStage
from benchmarks.turn.processes import Child
from benchmarks.turn.report import Row
from shared.events import Event, UsageRecorded
from shared.events.streams import SIGNAL_STREAM, TRACE_STREAM
from shared.messaging.outbox import OutboxRow
from shared.settings import WorkerSettings

_BATCH: int = WorkerSettings.model_fields["batch_size"].default
_ONE_ROW = "one_row"
# One row a message is slow: a part of the messages is enough to time it.
_ONE_ROW_SHARE = 5
_WARM_UP_SHARE = 5


@dataclass(frozen=True, slots=True)
class Work:
    """`effects` are the tables in which each event becomes one row."""

    name: str
    worker: str
    stream: str
    make: Callable[[Sequence[UUID], int], list[Event]]
    effects: tuple[str, ...]


@dataclass(slots=True)
class Paces:
    """Of one kind of work, round by round."""

    bare: list[Pace] = field(default_factory=list)
    worker: list[Pace] = field(default_factory=list)


_WORKS = (
    Work("usage alone", "signal_worker", SIGNAL_STREAM, usage_only, ("signals.usage",)),
    Work("signals of turns", "signal_worker", SIGNAL_STREAM, signals_of_turns, ("signals.usage", "signals.accesses")),
    Work("traces of turns", "trace_writer", TRACE_STREAM, traces_of_turns, ("traces.runs", "traces.retrievals")),
)


async def measure_consuming(stage: MeshStage, *, rounds: int, messages: int) -> AsyncIterator[Row]:
    pullers = await _start_pullers(stage)
    rows = {work.name: rows_of(work.make(stage.conversations, messages)) for work in _WORKS}
    paces = {work.name: Paces() for work in _WORKS}
    one_row: list[Pace] = []
    for number in range(rounds + 1):
        share = 1 if number else _WARM_UP_SHARE
        for work in _WORKS:
            some = rows[work.name][: messages // share]
            bare = await _time(stage, work, _bare_name(work.stream), pullers, some)
            real = await _time(stage, work, work.worker, pullers, some)
            if number:
                paces[work.name].bare.append(bare)
                paces[work.name].worker.append(real)
        handler = await _time(stage, _WORKS[0], _ONE_ROW, pullers, rows[_WORKS[0].name][: messages // _ONE_ROW_SHARE])
        if number:
            one_row.append(handler)
    for row in _rows(paces, one_row):
        yield row


async def _start_pullers(stage: MeshStage) -> dict[str, Child]:
    """Held back, each with its own consumer, by its name."""
    pullers: dict[str, Child] = {}
    for stream, worker in ((SIGNAL_STREAM, "signal_worker"), (TRACE_STREAM, "trace_writer")):
        bare = _bare_name(stream)
        await stage.bus.make_consumer(stream, bare, ("achilles.>",))
        pullers[bare] = stage.start("bare_pull", stage.nats_url, stream, bare, str(_BATCH))
        pullers[worker] = stage.start_worker(worker)
        for durable in (bare, worker):
            await stage.bus.wait_for_puller(stream, durable)
            await stage.bus.hold(stream, durable)
    await stage.bus.make_consumer(SIGNAL_STREAM, _ONE_ROW, (UsageRecorded.subject,))
    pullers[_ONE_ROW] = stage.start("one_row", stage.nats_url, stage.database_url, _ONE_ROW, str(_BATCH))
    await stage.bus.wait_for_puller(SIGNAL_STREAM, _ONE_ROW)
    await stage.bus.hold(SIGNAL_STREAM, _ONE_ROW)
    return pullers


async def _time(
    stage: MeshStage, work: Work, durable: str, pullers: dict[str, Child], rows: Sequence[OutboxRow]
) -> Pace:
    await stage.bus.empty(work.stream)
    await stage.ledger.clear()
    await stage.ledger.write(rows)
    await stage.bus.fill(work.stream, rows)
    pace = await stage.bus.time_consuming(work.stream, durable, pullers[durable], len(rows))
    if durable == work.worker:
        await _check_that_all_is_applied(stage, work, len(rows))
    return pace


async def _check_that_all_is_applied(stage: MeshStage, work: Work, count: int) -> None:
    written, waiting = await stage.ledger.count(work.effects), await stage.ledger.waiting()
    if (written, waiting) != (count, 0):
        raise SystemExit(
            f"{work.name}: {written} of {count} applied, {waiting} left in the ledger: nothing is measured"
        )


def _rows(paces: dict[str, Paces], one_row: Sequence[Pace]) -> list[Row]:
    rows = [_rate("floor: FastStream, one row a message, usage", one_row)]
    for name, both in paces.items():
        rows.append(_rate(f"floor: bare pull and acknowledge, {name}", both.bare))
        rows.append(_rate(f"worker, {name}", both.worker))
        rows.append(_share(f"of bare pull+ack in processor time, {name}", both.bare, both.worker, "cpu", 50))
        rows.append(_share(f"of bare pull+ack by the clock, {name}", both.bare, both.worker, "wall", None))
    usage = paces[_WORKS[0].name].worker
    times = [handler.wall / worker.wall for handler, worker in zip(one_row, usage, strict=True)]
    least = [handler.cpu / worker.cpu for handler, worker in zip(one_row, usage, strict=True)]
    beside = f"{min(times):.1f} to {max(times):.1f}; in processor time {statistics.median(least):.1f}"
    rows.append(
        Row("PERF-6", "FastStream handler of one row", statistics.median(times), "times", 5, beside, at_least=True)
    )
    return rows


def _rate(work: str, paces: Sequence[Pace]) -> Row:
    cpu = [1e6 * pace.cpu for pace in paces]
    beside = f"CPU {min(cpu):.0f} to {max(cpu):.0f} µs a message"
    return Row("", work, statistics.median(1 / pace.wall for pace in paces), "messages/s", None, beside)


def _share(work: str, floor: Sequence[Pace], ours: Sequence[Pace], by: str, target: float | None) -> Row:
    shares = [100 * getattr(a, by) / getattr(b, by) for a, b in zip(floor, ours, strict=True)]
    beside = f"{min(shares):.0f} to {max(shares):.0f} %"
    return Row("PERF-6", work, statistics.median(shares), "%", target, beside, at_least=True)


def _bare_name(stream: str) -> str:
    return f"bare-{stream.lower()}"
