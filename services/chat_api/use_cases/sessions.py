"""Begin and end a browser's session, and recognise it again."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.sessions import create_session, end_session, find_session, forget_expired
from shared.database.driver import driver_connection


class Sessions:
    """`authorities` are those whose word counts now; sessions of others are as good as ended."""

    def __init__(
        self, engine: AsyncEngine, authorities: Collection[str], *, lifetime: timedelta, now: Callable[[], datetime]
    ) -> None:
        self._engine = engine
        self._authorities = frozenset(authorities)
        self.lifetime = lifetime
        self._now = now

    async def begin(self, caller: Caller, *, instead_of: str | None = None, lifetime: timedelta | None = None) -> str:
        """Returns the opaque token of a new session. The browser's session before ends: a token is never promoted."""
        async with self._engine.begin() as connection:
            await forget_expired(connection)
            if instead_of:
                await end_session(connection, instead_of)
            return await create_session(connection, caller, now=self._now(), lifetime=lifetime or self.lifetime)

    async def identify(self, token: str) -> Caller | None:
        """None for a token that is unknown, ended or expired."""
        async with driver_connection(self._engine) as connection:
            return await find_session(connection, token, self._authorities)

    async def end(self, token: str) -> None:
        async with self._engine.begin() as connection:
            await end_session(connection, token)
