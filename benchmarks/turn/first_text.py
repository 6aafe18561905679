"""PERF-2: what a turn adds before the first text, at 100 streams of human pace."""

from collections.abc import AsyncIterator, Sequence

from benchmarks.turn.asking import Asked, Asker, questions
from benchmarks.turn.calls import ModelCallTimes
from benchmarks.turn.report import Row, percentile
from benchmarks.turn.seeding import make_conversations
from benchmarks.turn.stage import Stage

STREAMS = 100
_HISTORY = 20
# About what one turn takes at this pace.
_TURN_SECONDS = 4.0


async def measure_first_text(stage: Stage, *, turns: int) -> AsyncIterator[Row]:
    async with stage.asker() as asker:
        await _ask(stage, asker, STREAMS)
        asked = await _ask(stage, asker, turns)
        calls = await asker.model_calls()
    added = [added_before_text(one, calls[one.question]) for one in asked]
    waited = [added_before_text(one, calls[one.question], look_ahead=True) for one in asked]
    beside = f"p50 {percentile(added, 0.5):.1f} ms, {len(asked)} turns"
    yield Row(
        "PERF-2", f"added before the first text, p99, {STREAMS} streams", percentile(added, 0.99), "ms", 40, beside
    )
    beside = f"p50 {percentile(waited, 0.5):.1f} ms: the gate waits for the next word"
    yield Row(
        "", "the same, from the last token of the sentence itself, p99", percentile(waited, 0.99), "ms", None, beside
    )


async def _ask(stage: Stage, asker: Asker, turns: int) -> Sequence[Asked]:
    conversations = await make_conversations(stage.database_url, turns, messages=_HISTORY, model="pace-60")
    return await asker.ask_all(questions(), conversations, at_a_time=STREAMS, within=_TURN_SECONDS)


def added_before_text(asked: Asked, calls: Sequence[ModelCallTimes], *, look_ahead: bool = False) -> float:
    """Milliseconds that were not the model's: neither its first call nor its first sentence."""
    route, answer = calls
    sentence = answer.spoken if look_ahead else answer.decidable
    models = (route.ended - route.arrived) + (sentence - answer.arrived)
    return 1000 * (asked.first_text - asked.sent - models)
