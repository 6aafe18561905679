"""Browser sessions: an opaque token outside, its hash and the identity inside."""

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.chat import sessions
from shared.identity import Identity


async def create_session(connection: AsyncConnection, identity: Identity, *, now: datetime, lifetime: timedelta) -> str:
    """Returns the token for the cookie; only its hash is kept."""
    token = secrets.token_urlsafe(32)
    await connection.execute(
        insert(sessions).values(
            token_hash=_hash(token),
            identity=identity.model_dump(mode="json"),
            created_at=now,
            expires_at=now + lifetime,
        )
    )
    return token


async def find_session(connection: AsyncConnection, token: str) -> Identity | None:
    statement = select(sessions.c.identity).where(
        sessions.c.token_hash == _hash(token), sessions.c.expires_at > func.now()
    )
    found = await connection.scalar(statement)
    return Identity.model_validate(found) if found else None


async def end_session(connection: AsyncConnection, token: str) -> None:
    await connection.execute(delete(sessions).where(sessions.c.token_hash == _hash(token)))


async def forget_expired(connection: AsyncConnection) -> None:
    await connection.execute(delete(sessions).where(sessions.c.expires_at < func.now()))


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
