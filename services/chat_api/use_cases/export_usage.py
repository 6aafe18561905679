"""Usage as a file, written while it is read: page by page, so that a slow reader holds no session of the database."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Literal, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.chat_api.adapters.csv_file import CsvFile
from services.chat_api.adapters.parquet_file import ParquetFile
from services.chat_api.domain.focus_columns import FOCUS_COLUMNS, FOCUS_VERSION
from services.chat_api.domain.table_columns import Column, TableFile, TableRow
from services.chat_api.domain.usage_query import UsageQuery
from services.chat_api.domain.usage_table import usage_cells, usage_columns
from services.chat_api.storage.focus import read_focus_day
from services.chat_api.storage.keyset import PageRequest
from services.chat_api.storage.usage import list_usage, usage_cursor
from shared.errors import PermanentError

logger = logging.getLogger(__name__)
ExportFormat = Literal["csv", "parquet", "focus-csv", "focus-parquet"]
CSV_TYPE = "text/csv; charset=utf-8; header=present"
PARQUET_TYPE = "application/vnd.apache.parquet"
_ROWS_AT_ONCE = 5_000
# Files may wait for each other; those who ask questions must not wait for files.
_READ_AT_ONCE = 2
Result = TypeVar("Result")
Batches = AsyncIterator[Sequence[TableRow]]


class ExportBrokenError(PermanentError):
    """The file ends in the middle, so its connection is broken off: nobody may take a part for the whole."""


@dataclass(frozen=True, slots=True)
class UsageExport:
    filename: str
    media_type: str
    pieces: AsyncIterator[bytes]


class ExportUsage:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._turns = asyncio.Semaphore(_READ_AT_ONCE)

    async def execute(self, query: UsageQuery, export_format: ExportFormat) -> UsageExport:
        """The rows that `ReadUsage.list` gives, oldest first, or the days of the period in the columns of FOCUS. The
        first rows are read before this returns: a database that is away is told of before the file begins."""
        is_focus = export_format.startswith("focus")
        columns = FOCUS_COLUMNS if is_focus else usage_columns(query)
        batches = self._focus_batches(query) if is_focus else self._usage_batches(query)
        first = await _first_of(batches)
        is_csv = export_format.endswith("csv")
        make_file = _csv if is_csv else _parquet
        file = await asyncio.to_thread(make_file, columns, query, is_focus=is_focus)
        return UsageExport(
            filename=_filename(query, "csv" if is_csv else "parquet", is_focus=is_focus),
            media_type=CSV_TYPE if is_csv else PARQUET_TYPE,
            pieces=_pieces(file, first, batches),
        )

    async def _usage_batches(self, query: UsageQuery) -> Batches:
        after: str | None = None
        while True:
            request = PageRequest(_ROWS_AT_ONCE, "asc", after)
            page = await self._read(partial(list_usage, query=query, page=request))
            yield [usage_cells(query, row) for row in page.items]
            if not page.has_more:
                return
            after = usage_cursor(query, page.items[-1])

    async def _focus_batches(self, query: UsageQuery) -> Batches:
        after: date | None = None
        while True:
            found = await self._read(partial(read_focus_day, query=query, after=after))
            if found is None:
                return
            yield found.rows
            after = found.day

    async def _read(self, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        async with self._turns, self._engine.connect() as connection:
            return await work(connection)


def _csv(columns: Sequence[Column], _query: UsageQuery, *, is_focus: bool) -> TableFile:
    return CsvFile(columns, for_people=not is_focus)


def _parquet(columns: Sequence[Column], query: UsageQuery, *, is_focus: bool) -> TableFile:
    about = {"achilles.from": str(query.first), "achilles.to": str(query.last)}
    return ParquetFile(columns, {**about, "focus.version": FOCUS_VERSION} if is_focus else about)


def _filename(query: UsageQuery, ending: str, *, is_focus: bool) -> str:
    kind = f"focus-{FOCUS_VERSION}" if is_focus else "usage"
    return f"achilles-{kind}-{query.first}-to-{query.last}.{ending}"


async def _first_of(batches: Batches) -> Sequence[TableRow]:
    # Not `anext` with a default: with an empty generator that awaits it breaks in Python 3.11.
    async for batch in batches:
        return batch
    return ()


async def _pieces(file: TableFile, first: Sequence[TableRow], rest: Batches) -> AsyncIterator[bytes]:
    try:
        yield file.begin() + await asyncio.to_thread(file.add, first)
        async for rows in rest:
            if piece := await asyncio.to_thread(file.add, rows):
                yield piece
        yield await asyncio.to_thread(file.end)
    except Exception as fault:  # noqa: BLE001 (a trace would show the values of a statement)
        logger.error("usage_export_broken", extra={"error": type(fault).__name__})
        raise ExportBrokenError from None
