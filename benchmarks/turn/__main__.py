"""The turn: its processor time, what it adds to the model's own time, its memory, and whether it grows."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.turn.answer import check_that_the_gate_passes_all
from benchmarks.turn.closing import measure_closing
from benchmarks.turn.cost import measure_cost
from benchmarks.turn.first_text import measure_first_text
from benchmarks.turn.growth import measure_growth
from benchmarks.turn.memory import measure_memory
from benchmarks.turn.report import Row, format_row, write_json
from benchmarks.turn.stage import Stage, open_stage


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int
    turns: int
    streams: int
    table: int


_QUICK = Sizes(rounds=2, turns=60, streams=100, table=200_000)
_DEFAULT = Sizes(rounds=5, turns=100, streams=400, table=1_000_000)
_FULL = Sizes(rounds=7, turns=200, streams=1_000, table=10_000_000)

Part = Callable[[Stage, Sizes], AsyncIterator[Row]]
# Memory first: what later parts leave free in the heap would be used up before it grew.
_PARTS: dict[str, Part] = {
    "PERF-4": lambda stage, sizes: measure_memory(stage, streams=sizes.streams),
    "PERF-1": lambda stage, sizes: measure_cost(stage, rounds=sizes.rounds, turns=sizes.turns),
    "PERF-2": lambda stage, sizes: measure_first_text(stage, turns=3 * sizes.turns),
    "PERF-3": lambda stage, sizes: measure_closing(stage, turns=3 * sizes.turns),
    "PERF-5": lambda stage, sizes: measure_growth(stage, rounds=sizes.rounds, turns=sizes.turns, table=sizes.table),
}


async def measure(parts: list[str], sizes: Sizes) -> list[Row]:
    rows: list[Row] = []
    async with open_stage() as stage:
        for name in parts:
            async for row in _PARTS[name](stage, sizes):
                rows.append(row)
                print(format_row(row), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="about a minute, rough")
    size.add_argument("--full", action="store_true", help="10 million messages in the table; takes long")
    parser.add_argument("--only", nargs="+", choices=list(_PARTS), default=list(_PARTS), metavar="PERF-n")
    parser.add_argument("--json", type=Path, default=Path("build/turn.json"), help="where the rows are written")
    options = parser.parse_args()
    check_that_the_gate_passes_all()
    sizes = _QUICK if options.quick else _FULL if options.full else _DEFAULT
    write_json(asyncio.run(measure(options.only, sizes)), options.json)


if __name__ == "__main__":
    main()
