"""What the sums of days must be, counted in Python from the events: independent of any SQL."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

from shared.events import UsageRecorded
from tests.support.rows import Rows

Key = tuple[date, str, str, str, str, str]
Sums = tuple[int, int, int, int, int, Decimal, int, int, int]


def counted_days(events: Iterable[UsageRecorded], time_zone: str) -> dict[Key, Sums]:
    days: dict[Key, list[Sums]] = defaultdict(list)
    zone = ZoneInfo(time_zone)
    for event in {event.event_id: event for event in events}.values():
        day = event.occurred_at.astimezone(zone).date()
        key = (day, event.user_id, event.department or "", event.provider, event.model, event.currency or "")
        days[key].append(_figures(event))
    return {key: _sum(figures) for key, figures in days.items()}


async def stored_days(rows: Rows) -> dict[Key, Sums]:
    found = [tuple(row.values()) for row in await rows.all(_ALL)]
    return {row[:6]: row[6:] for row in found}


def _figures(event: UsageRecorded) -> Sums:
    return (
        event.input_tokens,
        event.cached_input_tokens,
        event.cache_write_tokens,
        event.output_tokens,
        event.reasoning_tokens,
        event.cost or Decimal(0),
        1,
        int(event.estimated),
        int(event.provider_call == 1),
    )


def _sum(figures: list[Sums]) -> Sums:
    return tuple(map(sum, zip(*figures, strict=True)))  # type: ignore[return-value]  # column by column


_ALL = (
    "SELECT day, user_id, department, provider, model, currency, input_tokens, cached_input_tokens, "
    "cache_write_tokens, output_tokens, reasoning_tokens, cost, calls, estimated_calls, answers "
    "FROM signals.usage_daily"
)
