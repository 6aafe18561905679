"""Browser sessions: an opaque token outside; its hash, the owner and the identity inside."""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.secrets import hash_of, new_secret
from shared.database.tables.chat import sessions
from shared.identity import Identity


async def create_session(connection: AsyncConnection, caller: Caller, *, now: datetime, lifetime: timedelta) -> str:
    """Returns the token for the cookie; only its hash is kept."""
    token = new_secret()
    await connection.execute(
        insert(sessions).values(
            token_hash=hash_of(token),
            owner_id=caller.owner_id,
            identity=caller.identity.model_dump(mode="json") if caller.identity else None,
            authority=caller.authority,
            created_at=now,
            expires_at=now + lifetime,
        )
    )
    return token


async def find_session(connection: AsyncConnection, token: str, authorities: Collection[str]) -> Caller | None:
    statement = select(sessions.c.owner_id, sessions.c.identity, sessions.c.authority).where(
        sessions.c.token_hash == hash_of(token),
        sessions.c.expires_at > func.now(),
        sessions.c.authority.in_(authorities),
    )
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        return None
    return Caller(row.owner_id, Identity.model_validate(row.identity) if row.identity else None, row.authority)


async def end_session(connection: AsyncConnection, token: str) -> None:
    await connection.execute(delete(sessions).where(sessions.c.token_hash == hash_of(token)))


async def forget_expired(connection: AsyncConnection) -> None:
    await connection.execute(delete(sessions).where(sessions.c.expires_at < func.now()))
