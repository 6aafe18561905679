"""Browser sessions: an opaque token outside; its hash, the owner and the identity inside."""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.secrets import hash_of, new_secret
from shared.database.driver import Driver
from shared.database.tables.chat import sessions
from shared.identity import Identity

_FIND_SESSION = """
    SELECT owner_id, identity, authority FROM chat.sessions
    WHERE token_hash = $1 AND expires_at > now() AND authority = ANY ($2)
"""


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


async def find_session(connection: Driver, token: str, authorities: Collection[str]) -> Caller | None:
    row = await connection.fetchrow(_FIND_SESSION, hash_of(token), list(authorities))
    if row is None:
        return None
    owner_id, identity, authority = row
    return Caller(owner_id, Identity.model_validate(identity) if identity else None, authority)


async def end_session(connection: AsyncConnection, token: str) -> None:
    await connection.execute(delete(sessions).where(sessions.c.token_hash == hash_of(token)))


async def forget_expired(connection: AsyncConnection) -> None:
    await connection.execute(delete(sessions).where(sessions.c.expires_at < func.now()))
