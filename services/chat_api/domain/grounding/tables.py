"""Markdown table rows as records: every value with the header of its column."""

import re
from bisect import bisect_right
from dataclasses import dataclass

_SEPARATOR = re.compile(r"\|?[\s:|-]+\|?\Z")


@dataclass(frozen=True, slots=True)
class Row:
    """`text` is "Header: value; Header: value"; `starts` are the cells' offsets, `values` those of their values."""

    text: str
    starts: tuple[int, ...]
    values: tuple[int, ...]

    def cell_of(self, offset: int) -> int:
        return max(0, bisect_right(self.starts, offset) - 1)

    def is_header(self, offset: int) -> bool:
        return offset < self.values[self.cell_of(offset)]


def split_cells(line: str) -> list[str]:
    return [cell.strip().strip("*_` ") for cell in line.strip().strip("|").split("|")]


def is_separator(line: str) -> bool:
    return "-" in line and bool(_SEPARATOR.match(line))


def read_rows(lines: list[str]) -> list[Row]:
    """Data rows of one table; without a header line the cells stand alone."""
    has_header = len(lines) > 1 and is_separator(lines[1])
    headers = split_cells(lines[0]) if has_header else []
    body = lines[2:] if has_header else [line for line in lines if not is_separator(line)]
    return [_make_row(headers, split_cells(line)) for line in body]


def _make_row(headers: list[str], cells: list[str]) -> Row:
    parts: list[str] = []
    starts: list[int] = []
    values: list[int] = []
    offset = 0
    for i, cell in enumerate(cells):
        header = headers[i] if i < len(headers) else ""
        label = f"{header}: " if header else ""
        part = f"{label}{cell}"
        starts.append(offset)
        values.append(offset + len(label))
        parts.append(part)
        offset += len(part) + 2
    return Row("; ".join(parts), tuple(starts), tuple(values))
