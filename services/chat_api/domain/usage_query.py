"""What is asked of the usage: which days, in which buckets, grouped by what, of whom."""

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, get_args

Bucket = Literal["day", "week", "month", "total"]
Grouping = Literal["day", "user", "department", "provider", "model"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)


@dataclass(frozen=True, slots=True)
class UsageFilters:
    """What is None does not filter. The department "" means people without one."""

    user: str | None = None
    department: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """`first` and `last` are days of the business time zone, both counted. `group_by` is in the order of `GROUPINGS`,
    each once."""

    first: date
    last: date
    bucket: Bucket = "day"
    group_by: tuple[Grouping, ...] = ()
    of: UsageFilters = UsageFilters()

    @property
    def shape(self) -> str:
        """What places in the answer are made of: two queries with one shape are ordered by the same columns."""
        return ":".join((self.bucket, *self.group_by))


def ordered(groupings: Sequence[Grouping]) -> tuple[Grouping, ...]:
    return tuple(one for one in GROUPINGS if one in groupings)


def days_of(bucket: Bucket, start: date, query: UsageQuery) -> tuple[date, date]:
    """The first and the last day that are counted in the bucket that begins with `start`."""
    return max(start, query.first), min(_last_day(bucket, start, query), query.last)


def _last_day(bucket: Bucket, start: date, query: UsageQuery) -> date:
    match bucket:
        case "day":
            return start
        case "week":
            return start + timedelta(days=min(6, (date.max - start).days))
        case "month":
            return start.replace(day=monthrange(start.year, start.month)[1])
        case "total":
            return query.last
