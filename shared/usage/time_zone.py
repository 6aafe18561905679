"""The time zone that business days follow: one for the whole installation, kept in the database."""

import logging
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from shared.usage.rollups import LOCK_FOR_RECOUNT

logger = logging.getLogger(__name__)


class UnknownTimeZoneError(ValueError):
    """The message says what to give instead."""


def _known(name: str) -> str:
    if name and name not in available_timezones():
        raise ValueError(f"{name!r} is no time zone: give a name like Europe/Berlin or UTC")
    return name


TimeZoneName = Annotated[str, AfterValidator(_known)]


async def read_time_zone(connection: AsyncConnection) -> str:
    found = (await connection.exec_driver_sql("SELECT name FROM signals.business_time_zone")).scalar_one()
    return str(found)


async def set_time_zone(connection: AsyncConnection, name: str) -> None:
    """Only under the lock for a recount, and together with one. Raises UnknownTimeZoneError."""
    known = await connection.exec_driver_sql("SELECT 1 FROM pg_timezone_names WHERE name = $1", (name,))
    if known.first() is None:
        raise UnknownTimeZoneError(f"PostgreSQL knows no time zone {name!r}: give a name like Europe/Berlin or UTC")
    await connection.exec_driver_sql("UPDATE signals.business_time_zone SET name = $1, changed_at = now()", (name,))


async def claim_time_zone(engine: AsyncEngine, wanted: str) -> None:
    """Set the zone as long as nothing was counted. Later only a recount may: a difference is logged, and stays."""
    async with engine.begin() as connection:
        if not wanted or await read_time_zone(connection) == wanted:
            return
        await connection.exec_driver_sql(LOCK_FOR_RECOUNT)
        found = await read_time_zone(connection)
        if (await connection.exec_driver_sql("SELECT 1 FROM signals.usage LIMIT 1")).first() is None:
            await _set_if_known(connection, wanted)
        elif found != wanted:
            logger.warning("business_time_zone_differs", extra={"configured": wanted, "in_use": found})


async def _set_if_known(connection: AsyncConnection, wanted: str) -> None:
    try:
        await set_time_zone(connection, wanted)
    except UnknownTimeZoneError:
        logger.error("business_time_zone_unknown_to_postgresql", extra={"configured": wanted})
