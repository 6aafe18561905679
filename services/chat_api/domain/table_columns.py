"""Tables that people take away as files: named columns of few kinds, and rows of cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, Protocol

# `instant` is a datetime in UTC, `share` a float between 0 and 1, `amount` an exact decimal, `json` text that is JSON.
Kind = Literal["text", "json", "day", "instant", "count", "amount", "share"]
Cell = str | date | datetime | int | float | Decimal | None
TableRow = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind


class TableFile(Protocol):
    """One file while it is written: what `begin`, each `add` and `end` return are its bytes, in that order."""

    def begin(self) -> bytes: ...

    def add(self, rows: Sequence[TableRow]) -> bytes: ...

    def end(self) -> bytes: ...
