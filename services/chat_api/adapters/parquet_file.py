"""Tables as Parquet, with dates as dates and exact decimals, written piece by piece."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from services.chat_api.domain.table_columns import Column, Kind, TableRow

# Wide enough for every sum of the database's own numeric(20, 10).
_DIGITS, _DECIMALS = 38, 10
_ROWS_AT_ONCE = 20_000


class ParquetFile:
    """Keeps up to 20,000 rows: a row group for each small batch would make a slow file. `about` is written into the
    file's own description."""

    def __init__(self, columns: Sequence[Column], about: Mapping[str, str]) -> None:
        # Imported here: only who exports Parquet waits for it and pays its memory.
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._arrow = pa
        self._waiting: list[TableRow] = []
        self._sink = _Sink()
        fields = [pa.field(column.name, _arrow_type(pa, column.kind)) for column in columns]
        self._schema = pa.schema(fields, metadata=dict(about))
        self._writer = pq.ParquetWriter(self._sink, self._schema, compression="zstd")

    def begin(self) -> bytes:
        return self._sink.take()

    def add(self, rows: Sequence[TableRow]) -> bytes:
        self._waiting += rows
        if len(self._waiting) >= _ROWS_AT_ONCE:
            self._write()
        return self._sink.take()

    def end(self) -> bytes:
        self._write()
        self._writer.close()
        return self._sink.take()

    def _write(self) -> None:
        if not self._waiting:
            return
        columns = zip(*self._waiting, strict=True)
        arrays = [self._arrow.array(cells, type=field.type) for cells, field in zip(columns, self._schema, strict=True)]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._waiting = []


class _Sink(io.RawIOBase):
    """A file that forgets what was taken from it, but not how long it is."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        self._length += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._length

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def _arrow_type(arrow: Any, kind: Kind) -> Any:
    match kind:
        case "text" | "json":
            return arrow.string()
        case "day":
            return arrow.date32()
        case "instant":
            return arrow.timestamp("us", tz="UTC")
        case "count":
            return arrow.int64()
        case "amount":
            return arrow.decimal128(_DIGITS, _DECIMALS)
        case "share":
            return arrow.float64()
