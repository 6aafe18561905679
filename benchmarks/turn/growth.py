"""PERF-5: a turn's cost against the length of its conversation, and against the size of the table."""

import statistics
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from benchmarks.turn.asking import Asker, questions
from benchmarks.turn.processes import cpu_seconds
from benchmarks.turn.report import Row, spread
from benchmarks.turn.seeding import make_conversations, settle_tables
from benchmarks.turn.stage import Stage

LENGTHS = (10, 1_000, 100_000)
_CONVERSATION_OF_OTHERS = 200
_AT_A_TIME = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of processor time a turn, in the front and in PostgreSQL."""

    front: float
    database: float


async def measure_growth(stage: Stage, *, rounds: int, turns: int, table: int) -> AsyncIterator[Row]:
    async with stage.asker() as asker:
        meter = _Meter(stage, asker)
        conversations = {
            length: await make_conversations(stage.database_url, _AT_A_TIME, messages=length) for length in LENGTHS
        }
        await settle_tables(stage.database_url)
        by_length = await meter.rounds(conversations, rounds, turns)
        for length in LENGTHS[1:]:
            yield _row(f"conversation of {length:,} messages against {LENGTHS[0]}", by_length[length], by_length[10])
        small = by_length[LENGTHS[0]]
        await make_conversations(stage.database_url, table // _CONVERSATION_OF_OTHERS, messages=_CONVERSATION_OF_OTHERS)
        await settle_tables(stage.database_url)
        large = await meter.rounds({10: conversations[10]}, rounds, turns)
        yield _row(f"table of {table:,} messages against one of 400,000", large[10], small)


def _row(work: str, costs: Sequence[Cost], base: Sequence[Cost]) -> Row:
    whole = [cost.front + cost.database for cost in costs]
    ratio = statistics.median(whole) / statistics.median(one.front + one.database for one in base)
    parts = f"front {statistics.median(one.front for one in costs):.2f}"
    return Row("PERF-5", work, ratio, "×", 1.2, f"{spread(whole, 'ms CPU')} ({parts})")


class _Meter:
    def __init__(self, stage: Stage, asker: Asker) -> None:
        self._stage = stage
        self._front = stage.front
        self._asker = asker

    async def rounds(self, conversations: dict[int, list[UUID]], rounds: int, turns: int) -> dict[int, list[Cost]]:
        """Interleaved, so that what disturbs the machine disturbs all."""
        costs: dict[int, list[Cost]] = {length: [] for length in conversations}
        for at in range(rounds + 1):
            for length, ids in conversations.items():
                cost = await self._cost(ids, turns)
                if at:
                    costs[length].append(cost)
        return costs

    async def _cost(self, conversations: list[UUID], turns: int) -> Cost:
        front, database = self._front.cpu_seconds(), self._database_seconds()
        for _ in range(turns // len(conversations)):
            await self._asker.ask_all(questions(), conversations, at_a_time=_AT_A_TIME)
        return Cost(
            1000 * (self._front.cpu_seconds() - front) / turns,
            1000 * (self._database_seconds() - database) / turns,
        )

    def _database_seconds(self) -> float:
        """Of the sessions of the front, which outlive the measurement."""
        return sum(cpu_seconds(pid) for pid in self._stage.database_pids())
