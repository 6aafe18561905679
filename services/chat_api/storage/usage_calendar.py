"""The business time zone, what day it is there, and the days that have usage."""

from dataclasses import dataclass
from datetime import date

from sqlalchemy import Date, String, cast, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.usage import business_time_zone, usage_daily


@dataclass(frozen=True, slots=True)
class BusinessDay:
    time_zone: str
    today: date


async def business_day(connection: AsyncConnection) -> BusinessDay:
    """By the database's clock. Before the first worker has started there is no zone yet, and days are those of UTC."""
    chosen = select(business_time_zone.c.name).scalar_subquery()
    zone = func.coalesce(chosen, literal("UTC", String()))
    today = cast(func.timezone(zone, func.now()), Date())
    row = (await connection.execute(select(zone, today))).one()
    return BusinessDay(*row)


async def used_days(connection: AsyncConnection, user: str | None) -> tuple[date | None, date | None]:
    """The first and the last day with usage, of that person or of anybody; None without any."""
    statement = select(func.min(usage_daily.c.day), func.max(usage_daily.c.day))
    if user is not None:
        statement = statement.where(usage_daily.c.user_id == user)
    first, last = (await connection.execute(statement)).one()
    return first, last
