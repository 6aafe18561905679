"""The mesh: what workers and relay reach of what bus and database could do, how late an effect is, NATS up and away."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mesh.bus_away import measure_bus_away
from benchmarks.mesh.consuming import measure_consuming
from benchmarks.mesh.lag import measure_lag
from benchmarks.mesh.relaying import measure_relaying
from benchmarks.mesh.stage import open_mesh_stage
from benchmarks.mesh.writing import measure_writing
from benchmarks.turn.report import Row, format_row, write_json
from benchmarks.turn.stage import open_stage


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int
    messages: int
    events: int
    turns: int


_QUICK = Sizes(rounds=2, messages=4_000, events=1_400, turns=120)
_DEFAULT = Sizes(rounds=5, messages=12_000, events=7_000, turns=400)


async def _floors(sizes: Sizes) -> AsyncIterator[Row]:
    async with open_mesh_stage() as stage:
        async for row in measure_writing(stage, rounds=sizes.rounds, messages=sizes.messages):
            yield row


async def _perf_6(sizes: Sizes) -> AsyncIterator[Row]:
    async with open_mesh_stage() as stage:
        async for row in measure_consuming(stage, rounds=sizes.rounds, messages=sizes.messages):
            yield row


async def _perf_7(sizes: Sizes) -> AsyncIterator[Row]:
    async with open_mesh_stage() as stage:
        async for row in measure_relaying(stage, rounds=sizes.rounds, messages=sizes.messages):
            yield row


async def _perf_8(sizes: Sizes) -> AsyncIterator[Row]:
    async with open_stage() as stage:
        async for row in measure_lag(stage, events=sizes.events):
            yield row


async def _mesh_1(sizes: Sizes) -> AsyncIterator[Row]:
    async with open_stage() as stage:
        async for row in measure_bus_away(stage, rounds=sizes.rounds, turns=sizes.turns // 2):
            yield row


Part = Callable[[Sizes], AsyncIterator[Row]]
_PARTS: dict[str, Part] = {
    "floors": _floors,
    "PERF-6": _perf_6,
    "PERF-7": _perf_7,
    "PERF-8": _perf_8,
    "MESH-1": _mesh_1,
}


async def measure(parts: Sequence[str], sizes: Sizes) -> list[Row]:
    rows: list[Row] = []
    for name in parts:
        async for row in _PARTS[name](sizes):
            rows.append(row)
            print(format_row(row), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about two minutes, rough")
    parser.add_argument("--only", nargs="+", choices=list(_PARTS), default=list(_PARTS), metavar="PART")
    parser.add_argument("--json", type=Path, default=Path("build/mesh.json"), help="where the rows are written")
    options = parser.parse_args()
    write_json(asyncio.run(measure(options.only, _QUICK if options.quick else _DEFAULT)), options.json)


if __name__ == "__main__":
    main()
