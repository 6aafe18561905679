"""API keys: the secret is shown once, its hash is kept, with the identity of the person it belongs to."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Row, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.keyset import Page, PageRequest, read_page
from services.chat_api.storage.secrets import hash_of
from shared.database.tables.logins import api_keys
from shared.identity import Identity

Scope = Literal["chat", "models"]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`start` is how the secret begins, so that people can tell their keys apart. `last_used_at` is coarse."""

    id: UUID
    start: str
    name: str
    owner_id: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class RecognisedKey:
    id: UUID
    caller: Caller
    scopes: tuple[Scope, ...]
    last_used_at: datetime | None


_KEY = (
    api_keys.c.id,
    api_keys.c.start,
    api_keys.c.name,
    api_keys.c.owner_id,
    api_keys.c.scopes,
    api_keys.c.created_at,
    api_keys.c.expires_at,
    api_keys.c.last_used_at,
)


async def create_api_key(
    connection: AsyncConnection, key: ApiKey, secret: str, identity: Identity, authority: str
) -> None:
    await connection.execute(
        insert(api_keys).values(
            id=key.id,
            key_hash=hash_of(secret),
            start=key.start,
            name=key.name,
            owner_id=key.owner_id,
            identity=identity.model_dump(mode="json"),
            authority=authority,
            scopes=list(key.scopes),
            created_at=key.created_at,
            expires_at=key.expires_at,
        )
    )


async def count_api_keys(connection: AsyncConnection, owner_id: str) -> int:
    counted = select(func.count()).select_from(api_keys).where(api_keys.c.owner_id == owner_id)
    return (await connection.execute(counted)).scalar_one()


async def find_api_key(connection: AsyncConnection, secret: str, authorities: Collection[str]) -> RecognisedKey | None:
    """None for a key that is unknown, revoked, expired, or of somebody whose authority does not count any more."""
    statement = select(
        api_keys.c.id, api_keys.c.identity, api_keys.c.authority, api_keys.c.scopes, api_keys.c.last_used_at
    ).where(
        api_keys.c.key_hash == hash_of(secret),
        api_keys.c.authority.in_(authorities),
        or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > func.now()),
    )
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        return None
    caller = Caller.known(Identity.model_validate(row.identity), row.authority)
    return RecognisedKey(row.id, caller, tuple(row.scopes), row.last_used_at)


async def note_use(connection: AsyncConnection, key_id: UUID, now: datetime) -> None:
    await connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(last_used_at=now))


async def list_api_keys(connection: AsyncConnection, owner_id: str | None, page: PageRequest) -> Page[ApiKey]:
    """Newest first, unless asked the other way round. `owner_id` None lists everybody's."""
    statement, anchor = select(*_KEY), select(api_keys.c.created_at, api_keys.c.id)
    if owner_id is not None:
        statement = statement.where(api_keys.c.owner_id == owner_id)
        anchor = anchor.where(api_keys.c.owner_id == owner_id)
    rows, has_more = await read_page(connection, statement, anchor, (api_keys.c.created_at, api_keys.c.id), page)
    return Page(tuple(_api_key(row) for row in rows), has_more)


async def delete_api_key(connection: AsyncConnection, key_id: UUID, owner_id: str | None) -> bool:
    """False if there was none of this owner; `owner_id` None revokes anybody's."""
    statement = delete(api_keys).where(api_keys.c.id == key_id)
    if owner_id is not None:
        statement = statement.where(api_keys.c.owner_id == owner_id)
    return (await connection.execute(statement.returning(api_keys.c.id))).one_or_none() is not None


async def renew_identity(connection: AsyncConnection, identity: Identity, authority: str) -> None:
    """A person's keys follow what the authority last said about them."""
    await connection.execute(
        update(api_keys)
        .where(api_keys.c.owner_id == identity.user_id, api_keys.c.authority == authority)
        .values(identity=identity.model_dump(mode="json"))
    )


def _api_key(row: Row[*tuple[Any, ...]]) -> ApiKey:
    values = row._asdict()
    values["scopes"] = tuple(values["scopes"])
    return ApiKey(**values)
