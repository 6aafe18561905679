"""Sign a person in and out, and recognise them again."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.storage.sessions import create_session, end_session, find_session
from shared.identity import Identity


class Sessions:
    def __init__(self, engine: AsyncEngine, *, lifetime: timedelta, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self.lifetime = lifetime
        self._now = now

    async def begin(self, identity: Identity) -> str:
        """Returns the opaque token of the new session."""
        async with self._engine.begin() as connection:
            return await create_session(connection, identity, now=self._now(), lifetime=self.lifetime)

    async def identify(self, token: str) -> Identity | None:
        """None for a token that is unknown, ended or expired."""
        async with self._engine.connect() as connection:
            return await find_session(connection, token)

    async def end(self, token: str) -> None:
        async with self._engine.begin() as connection:
            await end_session(connection, token)
