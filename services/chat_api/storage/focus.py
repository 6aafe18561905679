"""Usage in the columns of FOCUS, as the view that BI tools read gives it: one definition for both."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import column, func, select, table, true
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.focus_columns import FOCUS_COLUMNS
from services.chat_api.domain.table_columns import TableRow
from services.chat_api.domain.usage_query import UsageQuery

_VIEW = table("focus_1_3", *(column(one.name) for one in FOCUS_COLUMNS), schema="finance")
_day = _VIEW.c["x_Day"]
_DAY_PLACE = [one.name for one in FOCUS_COLUMNS].index("x_Day")
_ORDER = ("x_UserId", "x_Department", "ServiceProviderName", "x_Model", "BillingCurrency")


@dataclass(frozen=True, slots=True)
class FocusDay:
    day: date
    rows: Sequence[TableRow]


async def read_focus_day(connection: AsyncConnection, query: UsageQuery, after: date | None) -> FocusDay | None:
    """The first day of the query's period after that one which has usage, with all its rows; None at the end. Buckets
    and groups of the query do not matter: these rows are those of the rollup."""
    wanted = _VIEW.c["x_UserId"] == query.of.user if query.of.user is not None else true()
    if query.of.department is not None:
        wanted &= func.coalesce(_VIEW.c["x_Department"], "") == query.of.department
    if query.of.model is not None:
        wanted &= _VIEW.c["x_Model"] == query.of.model
    later = _day > after if after else _day >= query.first
    next_day = select(func.min(_day)).where(wanted, later, _day <= query.last).scalar_subquery()
    statement = select(_VIEW).where(wanted, _day == next_day).order_by(*(_VIEW.c[name] for name in _ORDER))
    rows = [tuple(row) for row in await connection.execute(statement)]
    return FocusDay(rows[0][_DAY_PLACE], rows) if rows else None
