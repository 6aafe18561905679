"""Keys for programs that ask in a person's name."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.api_keys import (
    ApiKey,
    Scope,
    count_api_keys,
    create_api_key,
    delete_api_key,
    find_api_key,
    list_api_keys,
    note_use,
    renew_identity,
)
from services.chat_api.storage.keyset import Page, PageRequest
from services.chat_api.storage.secrets import new_secret
from services.chat_api.use_cases.errors import NotFoundError
from shared.errors import ClientError
from shared.identity import Identity

API_KEY_PREFIX = "ak-"
_SECRET_CHARS = len(API_KEY_PREFIX) + 43
_SHOWN_CHARS = len(API_KEY_PREFIX) + 4
_MOST_KEYS = 50
_USE_IS_NOTED_EVERY = timedelta(minutes=15)


class ApiKeyRefusedError(ClientError):
    """Unknown, revoked and expired are the same to whoever holds it."""

    code = "api_key_refused"
    title = "The API key is not accepted"
    status = 401


class ScopeMissingError(ClientError):
    code = "scope_missing"
    title = "The API key is not meant for this"
    status = 403


class TooManyApiKeysError(ClientError):
    code = "too_many_api_keys"
    title = "There are too many API keys"
    status = 409


class ExpiryInThePastError(ClientError):
    code = "expiry_in_the_past"
    title = "The key would expire before it is made"
    status = 422


@dataclass(frozen=True, slots=True)
class NewApiKey:
    key: ApiKey
    secret: str


class ApiKeys:
    def __init__(self, engine: AsyncEngine, authorities: Collection[str], now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._authorities = frozenset(authorities)
        self._now = now

    async def create(
        self, identity: Identity, authority: str, name: str, scopes: Collection[Scope], expires_at: datetime | None
    ) -> NewApiKey:
        """The secret is in what is returned and nowhere else. Raises TooManyApiKeysError or ExpiryInThePastError."""
        now = self._now()
        if expires_at is not None and expires_at <= now:
            raise ExpiryInThePastError
        secret = API_KEY_PREFIX + new_secret()
        start, owned_scopes = secret[:_SHOWN_CHARS], tuple(sorted(set(scopes)))
        key = ApiKey(uuid4(), start, name, identity.user_id, owned_scopes, now, expires_at, None)
        async with self._engine.begin() as connection:
            if await count_api_keys(connection, identity.user_id) >= _MOST_KEYS:
                raise TooManyApiKeysError(f"Revoke one of your {_MOST_KEYS} keys first.")
            await create_api_key(connection, key, secret, identity, authority)
        return NewApiKey(key, secret)

    async def identify(self, secret: str, scope: Scope) -> Caller:
        """Raises ApiKeyRefusedError or ScopeMissingError."""
        if len(secret) != _SECRET_CHARS:
            raise ApiKeyRefusedError
        async with self._engine.connect() as connection:
            found = await find_api_key(connection, secret, self._authorities)
        if found is None:
            raise ApiKeyRefusedError
        if scope not in found.scopes:
            raise ScopeMissingError(f"It lacks the scope `{scope}`.")
        now = self._now()
        if found.last_used_at is None or now - found.last_used_at > _USE_IS_NOTED_EVERY:
            async with self._engine.begin() as connection:
                await note_use(connection, found.id, now)
        return found.caller

    async def list(self, owner_id: str | None, page: PageRequest) -> Page[ApiKey]:
        """`owner_id` None lists everybody's. Raises BadCursorError."""
        async with self._engine.connect() as connection:
            return await list_api_keys(connection, owner_id, page)

    async def revoke(self, identity: Identity, key_id: UUID) -> None:
        """One's own, or anybody's for an admin. Raises NotFoundError."""
        owner_id = None if "admin" in identity.roles else identity.user_id
        async with self._engine.begin() as connection:
            if not await delete_api_key(connection, key_id, owner_id):
                raise NotFoundError

    async def renew(self, identity: Identity, authority: str) -> None:
        async with self._engine.begin() as connection:
            await renew_identity(connection, identity, authority)
