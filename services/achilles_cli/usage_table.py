"""Rows of usage as a table for a terminal."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

_UNKNOWN = "unknown"


def usage_table(rows: list[dict[str, Any]], groupings: Sequence[str]) -> Table:
    """Names come from people, so they are shown as they are and never as markup."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("from", "to", *groupings):
        table.add_column(str(name))
    for name in ("cost", "answers", "calls", "unpriced", "input", "cached", "output"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            *(Text(str(row[str(name)] or "–")) for name in ("from", "to", *groupings)),
            f"{row['cost']} {row['currency']}" if row["currency"] else _UNKNOWN,
            *(f"{row[name]:,}" for name in ("answers", "calls", "unpriced_calls", "input_tokens")),
            "–" if row["cached_share"] is None else f"{row['cached_share']:.1%}",
            f"{row['output_tokens']:,}",
        )
    return table
