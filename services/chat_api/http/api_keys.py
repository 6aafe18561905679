"""One's own API keys. Only a person makes one: a key cannot make or see keys."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from services.chat_api.http.authentication import AnyCaller, AnyFront, SignedIn
from services.chat_api.http.identifiers import AnyPage, parse_id
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.http.problems import RoleRequiredError
from services.chat_api.storage.api_keys import Scope
from services.chat_api.use_cases.api_keys import NewApiKey

router = APIRouter(prefix="/api/v1/api-keys", tags=["api keys"])
KeyName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]*$")
]


class CreateKeyRequest(BaseModel):
    """`scopes` say what the key is good for; without `expires_at` it holds until it is revoked."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"name": "Open WebUI"}})

    name: KeyName
    scopes: list[Scope] = Field(default=["chat", "models"], min_length=1, max_length=10)
    expires_at: AwareDatetime | None = None


class ApiKeyBody(BaseModel):
    """`start` is how the secret begins. `last_used_at` is exact to a quarter of an hour."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    start: str
    owner_id: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class NewApiKeyBody(ApiKeyBody):
    """`secret` is shown this once."""

    secret: str


@router.post("", status_code=201)
async def create_key(
    body: CreateKeyRequest, identity: SignedIn, caller: AnyCaller, front: AnyFront, response: Response
) -> NewApiKeyBody:
    """Make a key with one's own rights as they are now. The secret is in this answer and nowhere else."""
    response.headers["cache-control"] = "no-store"
    made = await front.ways_in.api_keys.create(identity, caller.authority, body.name, body.scopes, body.expires_at)
    return _new_body(made)


@router.get("")
async def list_keys(
    identity: SignedIn,
    front: AnyFront,
    page: AnyPage,
    everybody: Annotated[bool, Query(description="Everybody's keys; for admins.")] = False,
) -> ListBody[ApiKeyBody]:
    """One's own keys, newest first. `after` and `before` take ids from the list."""
    if everybody and "admin" not in identity.roles:
        raise RoleRequiredError("Everybody's keys are for the role `admin`.")
    found = await front.ways_in.api_keys.list(None if everybody else identity.user_id, page)
    return list_body(found, ApiKeyBody.model_validate, lambda key: key.id)


@router.delete("/{key_id}", status_code=204)
async def revoke_key(key_id: Annotated[str, Path(max_length=64)], identity: SignedIn, front: AnyFront) -> None:
    """Revoke one's own key at once; an admin revokes anybody's."""
    await front.ways_in.api_keys.revoke(identity, parse_id(key_id))


def _new_body(made: NewApiKey) -> NewApiKeyBody:
    return NewApiKeyBody(**ApiKeyBody.model_validate(made.key).model_dump(), secret=made.secret)
