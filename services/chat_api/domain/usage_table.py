"""The usage that a page shows, as the table that is taken away."""

from services.chat_api.domain.table_columns import Cell, Column, Kind
from services.chat_api.domain.usage_query import UsageQuery
from services.chat_api.domain.usage_row import UsageRow

_PERIOD: tuple[tuple[str, Kind], ...] = (("from", "day"), ("to", "day"))
_FIGURES: tuple[tuple[str, Kind], ...] = (
    ("currency", "text"),
    ("cost", "amount"),
    ("calls", "count"),
    ("unpriced_calls", "count"),
    ("estimated_calls", "count"),
    ("answers", "count"),
    ("input_tokens", "count"),
    ("cached_input_tokens", "count"),
    ("cache_write_tokens", "count"),
    ("output_tokens", "count"),
    ("reasoning_tokens", "count"),
    ("cached_share", "share"),
)


def usage_columns(query: UsageQuery) -> tuple[Column, ...]:
    """The names that the list of the API uses, with only those groups that were asked for."""
    groups: tuple[tuple[str, Kind], ...] = tuple((name, "day" if name == "day" else "text") for name in query.group_by)
    return tuple(Column(name, kind) for name, kind in (*_PERIOD, *groups, *_FIGURES))


def usage_cells(query: UsageQuery, row: UsageRow) -> tuple[Cell, ...]:
    return (
        row.first,
        row.last,
        *(getattr(row, name) for name in query.group_by),
        *(getattr(row, name) for name, _ in _FIGURES),
    )
