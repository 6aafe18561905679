"""Many rows in one statement whose text does not depend on how many: one array a column.

`VALUES` with a parameter for each field is built, compiled and bound anew for every batch, which costs a worker several
times what the database needs for the rows.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Row, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncConnection

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]


async def insert_new(
    connection: AsyncConnection,
    table: Table,
    columns: tuple[str, ...],
    rows: Iterable[Sequence[object]],
    *,
    key: str,
    returning: tuple[str, ...] = (),
) -> Sequence[Row[Any]]:
    """Insert the rows whose `key` is not there yet; the columns `returning` of those, in no order.

    Values of `jsonb` are JSON text. Raises DBAPIError if any row is refused; then none is written.
    """
    arrays = arrays_of(columns, rows, key)
    if not arrays:
        return ()
    result = await connection.exec_driver_sql(insert_statement(table, columns, key, returning), arrays)
    return result.all() if returning else ()


def arrays_of(columns: tuple[str, ...], rows: Iterable[Sequence[Any]], key: str) -> tuple[list[Any], ...]:
    """What `insert_statement` takes; empty without rows. Sorted by the key, so that two workers that hold the same rows
    never wait for each other crosswise."""
    ordered = sorted(rows, key=itemgetter(columns.index(key)))
    return tuple(list(values) for values in zip(*ordered, strict=True))


@cache
def insert_statement(table: Table, columns: tuple[str, ...], key: str, returning: tuple[str, ...] = ()) -> str:
    """Takes one array for each column (`arrays_of`)."""
    types = [table.c[name].type.compile(dialect=_DIALECT) for name in columns]
    arrays = ", ".join(f"${number}::{type_}[]" for number, type_ in enumerate(types, start=1))
    told = f" RETURNING {', '.join(returning)}" if returning else ""
    return (
        f"INSERT INTO {table.fullname} ({', '.join(columns)}) SELECT * FROM unnest({arrays}) "  # noqa: S608 (our names)
        f"ON CONFLICT ({key}) DO NOTHING{told}"
    )
