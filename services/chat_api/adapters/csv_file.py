"""Tables as CSV (RFC 4180, UTF-8, a header line), safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from services.chat_api.domain.table_columns import Cell, Column, TableRow
from services.chat_api.domain.usage_row import decimal_text

_BYTE_ORDER_MARK = "\ufeff"
# A spreadsheet calculates what begins with one of these, and some split a line at other separators than the comma.
_FORMULA = re.compile(r"(^|[;,|\"'\t\r\n])([ \u00a0\u3000]*)(?=[=+\-@\t\r＝＋－＠])")


@lru_cache(maxsize=4_096)
def harmless(text: str) -> str:
    """With an apostrophe in front of everything that a spreadsheet would take for a formula."""
    return _FORMULA.sub(r"\1'\2", text)


class CsvFile:
    """Unknown is an empty cell. `for_people` marks the encoding, without which Excel takes UTF-8 for something else."""

    def __init__(self, columns: Sequence[Column], *, for_people: bool) -> None:
        self._columns = columns
        self._mark = _BYTE_ORDER_MARK if for_people else ""

    def begin(self) -> bytes:
        return self._mark.encode() + self._lines([[column.name for column in self._columns]])

    def add(self, rows: Sequence[TableRow]) -> bytes:
        return self._lines([[_written(cell) for cell in row] for row in rows])

    def end(self) -> bytes:
        return b""

    def _lines(self, rows: Sequence[Sequence[str]]) -> bytes:
        written = io.StringIO(newline="")
        csv.writer(written, lineterminator="\r\n").writerows(rows)
        return written.getvalue().encode()


def _written(cell: Cell) -> str:
    """Numbers stay numbers, also negative ones; only text can hold a formula."""
    match cell:
        case None:
            return ""
        case str():
            return harmless(cell)
        case Decimal():
            return decimal_text(cell)
        case datetime():
            return cell.strftime("%Y-%m-%dT%H:%M:%SZ")
        case _:
            return str(cell)
