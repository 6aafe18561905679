"""PERF-1: the processor time of a whole turn in the front, against the bare relay of one answer in the same round."""

import statistics
from collections.abc import AsyncIterator, Callable, Iterator

from benchmarks.turn.asking import Asker, fresh_questions, greetings, questions, relay_all
from benchmarks.turn.report import Row, spread
from benchmarks.turn.seeding import make_conversations, settle_tables, waiting_events
from benchmarks.turn.stage import Stage
from tests.support.waiting import eventually

AT_A_TIME = 20
HISTORY = 20
_KINDS: tuple[tuple[str, Callable[[], Iterator[str]], float | None], ...] = (
    ("conversational turn", greetings, 1.2),
    ("grounded turn, passages seen before", questions, 1.5),
    ("grounded turn, passages never seen before", fresh_questions, 1.5),
)


async def measure_cost(stage: Stage, *, rounds: int, turns: int) -> AsyncIterator[Row]:
    floors: list[float] = []
    costs: dict[str, list[float]] = {name: [] for name, _, _ in _KINDS}
    async with stage.asker() as asker:
        for _, asked, _ in _KINDS:
            await _cost_of(stage, asker, asked(), turns // 2)
        await _floor_cost(stage, turns // 2)
        for _ in range(rounds):
            floors.append(await _floor_cost(stage, turns))
            for name, asked, _ in _KINDS:
                costs[name].append(await _cost_of(stage, asker, asked(), turns))
    yield Row(
        "", "floor: bare relay of one 64-chunk answer", statistics.median(floors), "ms CPU", None, spread(floors, "ms")
    )
    for name, _, target in _KINDS:
        ratios = [cost / floor for cost, floor in zip(costs[name], floors, strict=True)]
        yield Row("PERF-1", name, statistics.median(ratios), "× floor", target, spread(costs[name], "ms CPU"))


async def _floor_cost(stage: Stage, count: int) -> float:
    before = stage.floor.cpu_seconds()
    await relay_all(stage.floor.url, count, at_a_time=AT_A_TIME)
    return 1000 * (stage.floor.cpu_seconds() - before) / count


async def _cost_of(stage: Stage, asker: Asker, asked: Iterator[str], turns: int) -> float:
    """Milliseconds a turn, until its last event has been sent and applied: the relay is a part of the front."""
    conversations = await make_conversations(stage.database_url, turns, messages=HISTORY)
    await settle_tables(stage.database_url)
    before = stage.front.cpu_seconds()
    await asker.ask_all(asked, conversations, at_a_time=AT_A_TIME)
    await eventually(lambda: waiting_events(stage.database_url), until=lambda waiting: waiting == 0, within=60)
    return 1000 * (stage.front.cpu_seconds() - before) / turns
