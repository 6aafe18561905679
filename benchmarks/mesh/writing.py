"""The floor of the database: the same usage rows, into the same table, in three ways."""

import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from operator import attrgetter
from typing import Any

import asyncpg

from benchmarks.mesh.events import usage_only
from benchmarks.mesh.stage import MeshStage
from benchmarks.turn.report import Row
from shared.database.bulk_insert import insert_statement
from shared.database.tables.usage import usage
from shared.events import UsageRecorded

Rows = Sequence[tuple[object, ...]]
_COLUMNS = ("event_id", *UsageRecorded.model_fields)
_AT_ONCE = 500
# One row a statement is slow: a part of the rows is enough to time it.
_ONE_ROW_SHARE = 10
_MANY = insert_statement(usage, _COLUMNS, "event_id")
_ONE = "INSERT INTO signals.usage ({}) VALUES ({})".format(
    ", ".join(_COLUMNS), ", ".join(f"${number}" for number in range(1, len(_COLUMNS) + 1))
)


async def measure_writing(stage: MeshStage, *, rounds: int, messages: int) -> AsyncIterator[Row]:
    ways: dict[str, tuple[Callable[[Any, Rows], Awaitable[None]], int]] = {
        "floor: COPY of usage rows": (_copy, messages),
        f"floor: unnest of {_AT_ONCE}": (_unnest, messages),
        "floor: one row a statement": (_one_by_one, messages // _ONE_ROW_SHARE),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    connection = await asyncpg.connect(stage.database_url, command_timeout=120)
    try:
        for _ in range(rounds):
            for name, (write, count) in ways.items():
                rates[name].append(await _rate(stage, connection, write, count))
    finally:
        await connection.close()
    for name, of_rounds in rates.items():
        beside = f"{min(of_rounds):.0f} to {max(of_rounds):.0f}"
        yield Row("", name, statistics.median(of_rounds), "rows/s", None, beside)


async def _rate(stage: MeshStage, connection: Any, write: Callable[[Any, Rows], Awaitable[None]], count: int) -> float:
    await stage.ledger.clear()
    rows = [attrgetter(*_COLUMNS)(event) for event in usage_only((), count)]
    begun = time.perf_counter()
    await write(connection, rows)
    return count / (time.perf_counter() - begun)


async def _copy(connection: Any, rows: Rows) -> None:
    await connection.copy_records_to_table("usage", schema_name="signals", columns=_COLUMNS, records=rows)


async def _unnest(connection: Any, rows: Rows) -> None:
    for start in range(0, len(rows), _AT_ONCE):
        await connection.execute(_MANY, *(list(column) for column in zip(*rows[start : start + _AT_ONCE], strict=True)))


async def _one_by_one(connection: Any, rows: Rows) -> None:
    statement = await connection.prepare(_ONE)
    for row in rows:
        await statement.fetch(*row)
