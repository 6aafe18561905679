"""The mesh: what workers and relay reach of what the bus and the database could do, and how late an effect is."""

import argparse
import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mesh.consuming import measure_consuming
from benchmarks.mesh.stage import open_mesh_stage
from benchmarks.turn.report import Row, format_row, write_json


@dataclass(frozen=True, slots=True)
class Sizes:
    rounds: int
    messages: int


_QUICK = Sizes(rounds=2, messages=6_000)
_DEFAULT = Sizes(rounds=5, messages=12_000)


async def consuming(sizes: Sizes) -> AsyncIterator[Row]:
    async with open_mesh_stage() as stage:
        async for row in measure_consuming(stage, rounds=sizes.rounds, messages=sizes.messages):
            yield row

_PARTS={"PERF-6":consuming}
async def measure(parts, sizes):
    rows=[]
    for name in parts:
        async for row in _PARTS[name](sizes):
            rows.append(row); print(format_row(row), flush=True)
    return rows

def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(_PARTS), default=list(_PARTS), metavar="PERF-n")
    parser.add_argument("--json", type=Path, default=Path("build/mesh.json"), help="where the rows are written")
    options = parser.parse_args()
    write_json(asyncio.run(measure(options.only, _QUICK if options.quick else _DEFAULT)), options.json)

if __name__ == "__main__":
    main()
