"""MESH-1: what a turn adds before its first text and at its end, with NATS up, frozen and stopped, round by round."""

import statistics
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.turn.asking import Asker, questions
from benchmarks.turn.first_text import added_before_text
from benchmarks.turn.report import Row, percentile
from benchmarks.turn.seeding import make_conversations, waiting_events
from benchmarks.turn.stage import Stage
from tests.support.waiting import eventually

_AT_A_TIME = 20
_HISTORY = 20


@dataclass(slots=True)
class Waits:
    """Milliseconds, of all turns; and the medians round by round."""

    first_text: list[float] = field(default_factory=list)
    closing: list[float] = field(default_factory=list)
    medians: list[tuple[float, float]] = field(default_factory=list)

    def add(self, first_text: list[float], closing: list[float]) -> None:
        self.first_text += first_text
        self.closing += closing
        self.medians.append((statistics.median(first_text), statistics.median(closing)))


async def measure_bus_away(stage: Stage, *, rounds: int, turns: int) -> AsyncIterator[Row]:
    states = {
        "up": (_nothing, _nothing),
        "frozen": _frozen(stage),
        "stopped": (stage.servers.nats.stop, stage.servers.nats.start),
    }
    waits = {state: Waits() for state in states}
    async with stage.asker() as asker:
        await _ask(stage, asker, turns // 2)
        for _ in range(rounds):
            for state, (before, after) in states.items():
                await before()
                try:
                    waits[state].add(*await _ask(stage, asker, turns))
                finally:
                    await after()
                await eventually(
                    lambda: waiting_events(stage.database_url), until=lambda waiting: waiting == 0, within=120
                )
    for row in _rows(waits):
        yield row


async def _nothing() -> None:
    """The broker stays as it is."""


def _frozen(stage: Stage) -> tuple[Callable[[], Awaitable[None]], Callable[[], Awaitable[None]]]:
    async def freeze() -> None:
        stage.servers.nats.freeze()

    async def thaw() -> None:
        stage.servers.nats.thaw()

    return freeze, thaw


async def _ask(stage: Stage, asker: Asker, turns: int) -> tuple[list[float], list[float]]:
    conversations = await make_conversations(stage.database_url, turns, messages=_HISTORY)
    asked = await asker.ask_all(questions(), conversations, at_a_time=_AT_A_TIME)
    calls = await asker.model_calls()
    first_text = [added_before_text(one, calls[one.question]) for one in asked]
    return first_text, [1000 * (one.closed - calls[one.question][-1].ended) for one in asked]


def _rows(waits: Mapping[str, Waits]) -> list[Row]:
    rows = []
    for at, name in enumerate(("added before the first text", "end of the turn to closing event")):
        for state, of_state in waits.items():
            values = of_state.closing if at else of_state.first_text
            ratios = [away[at] / up[at] for away, up in zip(of_state.medians, waits["up"].medians, strict=True)]
            beside = f"p99 {percentile(values, 0.99):.1f} ms; of NATS up {min(ratios):.2f} to {max(ratios):.2f}"
            rows.append(Row("MESH-1", f"{name}, NATS {state}, p50", percentile(values, 0.5), "ms", None, beside))
    return rows
