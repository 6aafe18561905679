"""PERF-3: from the model's last token to the closing event, with the broker up, stopped and frozen."""

from collections.abc import AsyncIterator, Awaitable, Callable

from benchmarks.turn.asking import Asker, questions
from benchmarks.turn.report import Row, percentile
from benchmarks.turn.seeding import make_conversations
from benchmarks.turn.stage import Stage

# So few that the core is not full on a slow machine either: a queue for it is not what is asked about.
AT_A_TIME = 5
_HISTORY = 20
# About what one turn takes at the model's pace.
_TURN_SECONDS = 0.5


async def measure_closing(stage: Stage, *, turns: int) -> AsyncIterator[Row]:
    nats = stage.servers.nats

    async def nothing() -> None:
        """The broker stays as it is."""

    async def freeze() -> None:
        nats.freeze()

    async def thaw() -> None:
        nats.thaw()

    async with stage.asker() as asker:
        await _closings(stage, asker, turns)
        for state, before, after in (
            ("up", nothing, nothing),
            ("frozen", freeze, thaw),
            ("up again", nothing, nothing),
            ("stopped", nats.stop, nats.start),
        ):
            yield await _row(stage, asker, turns, state, before, after)


async def _row(
    stage: Stage,
    asker: Asker,
    turns: int,
    state: str,
    before: Callable[[], Awaitable[None]],
    after: Callable[[], Awaitable[None]],
) -> Row:
    await before()
    try:
        waits = await _closings(stage, asker, turns)
    finally:
        await after()
    beside = f"p50 {percentile(waits, 0.5):.1f} ms, {len(waits)} turns"
    return Row(
        "PERF-3", f"end of the turn to closing event, p99, NATS {state}", percentile(waits, 0.99), "ms", 20, beside
    )


async def _closings(stage: Stage, asker: Asker, turns: int) -> list[float]:
    conversations = await make_conversations(stage.database_url, turns, messages=_HISTORY)
    asked = await asker.ask_all(questions(), conversations, at_a_time=AT_A_TIME, within=_TURN_SECONDS)
    calls = await asker.model_calls()
    return [1000 * (one.closed - calls[one.question][-1].ended) for one in asked]
