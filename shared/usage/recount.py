"""Count all calls again and compare with the sums of the days, or set the sums right."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from shared.usage.rollups import BUSINESS_DAY, FIGURES, KEYS, LOCK_FOR_RECOUNT, sums_of
from shared.usage.time_zone import read_time_zone, set_time_zone

Progress = Callable[[int, int], None]
"""Months that are done, and how many there are."""

_COLUMNS = ", ".join((*KEYS, *FIGURES))
_SAME_KEY = " AND ".join(f"kept.{key} = recounted.{key}" for key in KEYS)
_SAME_FIGURES = (
    f"({', '.join(f'kept.{name}' for name in FIGURES)}) = ({', '.join(f'recounted.{name}' for name in FIGURES)})"
)
# A business day is never more than a day away from the same day in UTC; the index narrows, the day decides.
_MONTH = f"""
    (SELECT * FROM signals.usage
     WHERE occurred_at >= $1::date - interval '2 days' AND occurred_at < $1::date + interval '1 month 2 days'
       AND {BUSINESS_DAY} >= $1::date AND {BUSINESS_DAY} < ($1::date + interval '1 month')::date) AS calls"""  # noqa: S608
_MONTHS = """
    SELECT generate_series(date_trunc('month', min(occurred_at) - interval '2 days'),
                           max(occurred_at) + interval '2 days', '1 month')::date FROM signals.usage"""

_COMPARE = f"""
    SELECT count(recounted.day) AS rows, coalesce(sum(recounted.calls), 0)::bigint AS calls,
        count(*) FILTER (WHERE kept.day IS NULL) AS missing,
        count(*) FILTER (WHERE recounted.day IS NULL) AS spare,
        count(*) FILTER (WHERE NOT {_SAME_FIGURES}) AS wrong
    FROM recounted FULL JOIN signals.usage_daily AS kept ON {_SAME_KEY}"""  # noqa: S608
_TAKE_AWAY_WRONG = f"""
    DELETE FROM signals.usage_daily AS kept
    WHERE NOT EXISTS (SELECT FROM recounted WHERE {_SAME_KEY} AND {_SAME_FIGURES})"""  # noqa: S608
_PUT_RIGHT = f"""
    INSERT INTO signals.usage_daily ({_COLUMNS}) SELECT {_COLUMNS} FROM recounted
    ON CONFLICT ({", ".join(KEYS)}) DO NOTHING"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Recount:
    """`rows` are the sums that the calls come to. Of those kept, `wrong` had other figures and `spare` had no call."""

    time_zone: str
    calls: int
    rows: int
    wrong: int
    missing: int
    spare: int

    @property
    def agrees(self) -> bool:
        return not (self.wrong or self.missing or self.spare)


async def check_sums(engine: AsyncEngine, progress: Progress) -> Recount:
    """Holds nobody up: calls and sums are seen as they stood at one moment."""
    async with engine.begin() as connection:
        await connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return await _recount(connection, progress)


async def set_sums_right(engine: AsyncEngine, progress: Progress, time_zone: str | None = None) -> Recount:
    """Workers wait until it is done, and lose nothing; readers see the old sums until then.

    `time_zone` becomes that of the installation, in the same transaction. Raises UnknownTimeZoneError.
    """
    async with engine.begin() as connection:
        await connection.exec_driver_sql(LOCK_FOR_RECOUNT)
        if time_zone:
            await set_time_zone(connection, time_zone)
        recount = await _recount(connection, progress)
        await connection.exec_driver_sql(_TAKE_AWAY_WRONG)
        await connection.exec_driver_sql(_PUT_RIGHT)
        return recount


async def _recount(connection: AsyncConnection, progress: Progress) -> Recount:
    await connection.exec_driver_sql("CREATE TEMP TABLE recounted (LIKE signals.usage_daily) ON COMMIT DROP")
    months: list[date] = list((await connection.exec_driver_sql(_MONTHS)).scalars())
    for done, month in enumerate(months, start=1):
        await connection.exec_driver_sql(f"INSERT INTO recounted ({_COLUMNS}) {sums_of(_MONTH)}", (month,))
        progress(done, len(months))
    await connection.exec_driver_sql("ANALYZE recounted")
    return await _compared(connection)


async def _compared(connection: AsyncConnection) -> Recount:
    compared = await connection.exec_driver_sql(_COMPARE)
    return Recount(time_zone=await read_time_zone(connection), **compared.one()._mapping)
