"""The engine's own connections without SQLAlchemy's statement layer, for the statements of every turn.

Building, keying and adapting a Core statement costs the front several times what asyncpg needs to run it
(docs/spec/turn-cost.md), and a turn is nothing but a few statements that never change.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

Driver = Any
"""An asyncpg connection, which brings no types. Values of `jsonb` go in as JSON text and come out parsed."""

# The server did not answer: a statement may still be running, so the connection must not be used again.
_NO_ANSWER = (asyncpg.InterfaceError, asyncpg.PostgresConnectionError, OSError, asyncio.CancelledError)


@asynccontextmanager
async def driver_connection(engine: AsyncEngine) -> AsyncIterator[Driver]:
    """Each statement is a transaction of its own, unless the caller opens one with `transaction()`.

    Raises what SQLAlchemy raises: DBAPIError for what the server refused, OperationalError when it is away.
    """
    async with engine.connect() as connection:
        try:
            yield await _living(connection)
        except _NO_ANSWER as fault:
            await connection.invalidate()
            if isinstance(fault, asyncpg.PostgresError | asyncpg.InterfaceError):
                raise OperationalError(None, None, fault, connection_invalidated=True) from fault
            raise
        except asyncpg.PostgresError as fault:
            raise DBAPIError(None, None, fault) from fault


async def _living(connection: AsyncConnection) -> Driver:
    """The pool may hold connections that the server closed meanwhile."""
    while True:
        driver = (await connection.get_raw_connection()).driver_connection
        if driver is not None and not driver.is_closed():
            return driver
        await connection.invalidate()
