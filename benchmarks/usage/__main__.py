"""Usage over a year: what a question costs from the sums of days, against counting all calls again."""

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from benchmarks.turn.report import Row, format_row, write_json
from benchmarks.usage.filling import DAYS, FIRST_DAY, USERS, add_calls
from shared.database.engine import make_engine
from shared.database.migrate import upgrade_schema
from shared.embedded.servers import embedded_servers
from shared.usage.recount import check_sums, set_sums_right
from shared.usage.rollups import sums_of

_SUMS = (
    "sum(input_tokens) AS input, sum(cached_input_tokens) AS cached, sum(output_tokens) AS output, "
    "sum(cost) AS cost, sum(calls) AS calls, sum(answers) AS answers"
)
_GROUPS = {
    "the year by department": "department, currency",
    "the year by month and department": "date_trunc('month', day::timestamp), department, currency",
    "the year by day": "day, currency",
    "the year by person": "user_id, department, currency",
}
_WITHIN = f"day BETWEEN '{FIRST_DAY}' AND '{FIRST_DAY + timedelta(days=DAYS)}'"
_ZONE = "Europe/Berlin"


def _question(groups: str, source: str) -> str:
    return f"SELECT {groups}, {_SUMS} FROM {source} AS days WHERE {_WITHIN} GROUP BY {groups} ORDER BY {groups}"


async def _seconds(engine: AsyncEngine, question: str, rounds: int) -> tuple[float, list[tuple[object, ...]]]:
    """The least of the rounds, since other work on the machine only ever adds, and what was found."""
    taken: list[float] = []
    found: list[tuple[object, ...]] = []
    async with engine.connect() as connection:
        for _ in range(rounds):
            started = time.perf_counter()
            found = [tuple(row) for row in await connection.exec_driver_sql(question)]
            taken.append(time.perf_counter() - started)
    return min(taken), found


async def _fill(engine: AsyncEngine, first: int, last: int) -> tuple[float, bool]:
    """Seconds that the recount took, and whether sums and calls agree afterwards."""
    await add_calls(engine, first, last)
    started = time.perf_counter()
    await set_sums_right(engine, lambda _done, _total: None, _ZONE)
    seconds = time.perf_counter() - started
    async with engine.connect() as connection:
        autocommit = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await autocommit.exec_driver_sql("VACUUM ANALYZE signals.usage_daily")
    return seconds, (await check_sums(engine, lambda _done, _total: None)).agrees


async def measure(engine: AsyncEngine, events: int) -> list[Row]:
    tenth = events // 10
    rows: list[Row] = []

    def told(row: Row) -> None:
        rows.append(row)
        print(format_row(row), flush=True)

    _, small_agrees = await _fill(engine, 1, tenth)
    small = {name: (await _seconds(engine, _question(by, "signals.usage_daily"), 5))[0] for name, by in _GROUPS.items()}
    recount, agrees = await _fill(engine, tenth + 1, events)
    async with engine.connect() as connection:
        days = (await connection.exec_driver_sql("SELECT count(*) FROM signals.usage_daily")).scalar_one()
    told(Row("", f"calls in the table, and sums of {USERS:,} people", events, "calls", None, f"{days:,} sums"))
    told(Row("PERF-9", "sums that disagree with the full recount", float(not (small_agrees and agrees)), "", 0))
    for name, by in _GROUPS.items():
        quick, told_quick = await _seconds(engine, _question(by, "signals.usage_daily"), 5)
        full, told_full = await _seconds(engine, _question(by, f"({sums_of('signals.usage')})"), 1)
        # Again, in case the machine was busy only before.
        quick = min(quick, (await _seconds(engine, _question(by, "signals.usage_daily"), 5))[0])
        beside = f"{quick * 1000:.0f} ms against {full * 1000:.0f} ms"
        same = "" if told_quick == told_full else "; THE ANSWERS DIFFER"
        told(Row("PERF-9", f"{name}, of the full recount", quick / full, "", 1 / 50, beside + same))
        told(Row("", f"{name}, against a tenth of the calls", quick / small[name], "times"))
    told(Row("", "recount of all sums, with the lock", recount, "s"))
    return rows


async def _run(events: int) -> Sequence[Row]:
    folder = Path(tempfile.mkdtemp(prefix="achilles-bench-"))
    try:
        async with embedded_servers(folder) as servers:
            url = servers.postgres.url
            await upgrade_schema(url)
            longest = timedelta(hours=2)
            engine = make_engine(url, application_name="benchmark", pool_size=1, statement_timeout=longest)
            try:
                return await measure(engine, events)
            finally:
                await engine.dispose()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000, help="model calls in the table, at least 1,000")
    parser.add_argument("--json", type=Path, default=Path("build/usage.json"), help="where the rows are written")
    options = parser.parse_args()
    if options.events < 1_000:
        parser.error("--events: at least 1,000")
    write_json(asyncio.run(_run(options.events)), options.json)


if __name__ == "__main__":
    main()
