"""Who may call what, over every operation of the front: one that is in no table fails here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Literal, get_args

import httpx
import pytest
import pytest_asyncio
from fastapi import APIRouter, Depends
from starlette.routing import BaseRoute

from services.chat_api.http.authentication import (
    AnyCaller,
    RouteWithoutGuardError,
    require_guards,
    require_role,
)
from services.chat_api.main import create_app
from services.chat_api.settings import ChatApiSettings
from shared.identity import Role
from tests.support.api_document import Operation, operations_of
from tests.support.front import Person, RunningFront, make_front_settings
from tests.support.http_server import serving
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

# `store`: the Knowledge Store with its service token. `anybody`: no credentials at all.
# `caller`: signed in, or anonymous where that is allowed. `person`: signed in.
Access = Literal["store", "anybody", "caller", "person", "user", "reviewer", "finance", "admin"]
TABLE: dict[str, Access] = {
    "GET /api/v1/session": "person",
    "POST /api/v1/session": "anybody",
    "DELETE /api/v1/session": "anybody",
    "GET /api/v1/session/people": "anybody",
    "POST /api/v1/session/anonymous": "anybody",
    "GET /api/v1/session/login": "anybody",
    "GET /api/v1/session/callback": "anybody",
    "GET /api/v1/api-keys": "person",
    "POST /api/v1/api-keys": "person",
    "DELETE /api/v1/api-keys/{key_id}": "person",
    "GET /api/v1/loop/health": "admin",
    "GET /api/v1/models": "caller",
    "GET /api/v1/admin/models": "admin",
    "GET /api/v1/admin/prices": "admin",
    "PUT /api/v1/admin/prices": "admin",
    "PUT /api/v1/admin/models": "admin",
    "GET /api/v1/admin/tools": "admin",
    "GET /api/v1/admin/tools/{tool}": "admin",
    "PUT /api/v1/admin/tools/{tool}": "admin",
    "GET /api/v1/admin/prompts": "admin",
    "POST /api/v1/admin/prompts": "admin",
    "GET /api/v1/admin/prompts/active": "admin",
    "GET /api/v1/admin/prompts/compare": "admin",
    "GET /api/v1/admin/prompts/{prompt_id}": "admin",
    "POST /api/v1/admin/prompts/{prompt_id}/activate": "admin",
    "GET /api/v1/admin/changes": "admin",
    "GET /api/v1/admin/dead-letters": "admin",
    "GET /api/v1/admin/dead-letters/{letter_id}": "admin",
    "POST /api/v1/admin/dead-letters/{letter_id}/replay": "admin",
    "DELETE /api/v1/admin/dead-letters/{letter_id}": "admin",
    "GET /api/v1/access-signals": "store",
    "GET /api/v1/usage": "person",
    "GET /api/v1/usage/scope": "person",
    "GET /api/v1/usage/export": "person",
    "POST /api/v1/chat": "caller",
    "POST /v1/chat/completions": "caller",
    "GET /v1/models": "caller",
    "GET /v1/models/{model_id}": "caller",
    "POST /api/v1/turns/{message_id}/stop": "caller",
    "GET /api/v1/conversations": "caller",
    "GET /api/v1/conversations/{conversation_id}": "caller",
    "PATCH /api/v1/conversations/{conversation_id}": "caller",
    "DELETE /api/v1/conversations/{conversation_id}": "caller",
    "GET /api/v1/conversations/{conversation_id}/messages": "caller",
    "PUT /api/v1/messages/{message_id}/feedback": "caller",
    "POST /api/v1/messages/{message_id}/citations/{n}/open": "caller",
}
# Pages, files and what an operator's tools read: no data of a person is in them, or they see to it by themselves.
OUTSIDE_THE_DOCUMENT = {
    "/",
    "/operations",
    "/usage",
    "/sources/{record_id}",
    "/static",
    "/livez",
    "/readyz",
    "/metrics",
    "/api/v1/openapi.json",
    "/api/v1/asyncapi.json",
}
ROLES: tuple[Role, ...] = get_args(Role)
PEOPLE: dict[str, set[Role]] = {
    "anna": {"user"},
    "frank": {"user", "finance"},
    "olga": {"user", "admin", "reviewer"},
}


@pytest.fixture
def settings(database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore) -> ChatApiSettings:
    return make_front_settings(database_url, nats_url, redis_url, store.url)


@pytest_asyncio.fixture
async def operations(front: RunningFront) -> list[Operation]:
    async with front.anybody() as client:
        return await operations_of(client)


async def _status(client: httpx.AsyncClient, operation: Operation, **headers: str) -> int:
    """With a body that names somebody else, where there is a body."""
    body = {"user_id": "olga", "identity": {"user_id": "olga"}} if operation.has_body else None
    response = await client.request(operation.method, operation.address(), json=body, headers=headers)
    return response.status_code


@pytest.mark.req("AUTH-3")
async def test_every_operation_stands_in_the_table(front: RunningFront, operations: list[Operation]) -> None:
    assert {operation.name for operation in operations} == set(TABLE)


@pytest.mark.req("AUTH-3")
async def test_every_route_is_in_the_document_or_known_to_be_outside(settings: ChatApiSettings) -> None:
    app = create_app(settings)
    documented = {path.partition(" ")[2] for path in TABLE}
    paths = {
        getattr(route, "path", "").replace(":path}", "}") for outer in app.routes for route in _routes_within(outer)
    }
    assert paths - documented <= OUTSIDE_THE_DOCUMENT


def _routes_within(route: BaseRoute) -> list[BaseRoute]:
    """An included router stands in the list as one entry."""
    included = getattr(route, "original_router", None)
    return included.routes if isinstance(included, APIRouter) else [route]


@pytest.mark.req("AUTH-3")
async def test_without_credentials_every_operation_that_is_not_for_anybody_is_a_401(
    front: RunningFront, operations: list[Operation]
) -> None:
    async with front.anybody() as client:
        for operation in operations:
            closed = TABLE[operation.name] != "anybody"
            assert (await _status(client, operation) == 401) == closed, operation.name
            for name, value in (("cookie", "achilles_session=made-up"), ("x-forwarded-user", "olga")):
                client.cookies.clear()
                assert (await _status(client, operation, **{name: value}) == 401) == closed, (operation.name, name)


@pytest.mark.req("AUTH-3")
async def test_an_operation_for_a_role_refuses_everybody_without_it(
    front: RunningFront, operations: list[Operation]
) -> None:
    for user_id, roles in PEOPLE.items():
        async with front.person(user_id) as person:
            for operation in operations:
                access = TABLE[operation.name]
                if access in ROLES:
                    forbidden = await _status(person.client, operation) == 403
                    assert forbidden == (access not in roles), (operation.name, user_id)


@pytest.mark.req("AUTH-3")
async def test_each_role_opens_its_own_doors_only(settings: ChatApiSettings) -> None:
    async with _probed(settings) as front:
        for user_id, roles in PEOPLE.items():
            async with front.person(user_id) as person:
                for role in ROLES:
                    response = await person.client.get(f"/probe/{role}")
                    assert response.status_code == (200 if role in roles else 403), (user_id, role)
                    assert response.status_code == 200 or response.json()["code"] == "role_required"
        async with front.anybody() as client:
            assert {(await client.get(f"/probe/{role}")).status_code for role in ROLES} == {401}


@asynccontextmanager
async def _probed(settings: ChatApiSettings) -> AsyncIterator[RunningFront]:
    """The front, with one more door for each role."""
    app = create_app(settings, model=ScriptedModel())
    router = APIRouter(prefix="/probe")
    for role in ROLES:
        router.add_api_route(f"/{role}", _opened, dependencies=[Depends(require_role(role))])
    require_guards(router)
    app.include_router(router)
    async with serving(app) as url:
        yield RunningFront(url)


async def _opened() -> str:
    return "open"


def test_a_route_that_does_not_say_who_may_call_it_stops_the_front_from_starting() -> None:
    router = APIRouter()

    @router.get("/guarded")
    async def guarded(caller: AnyCaller) -> str:
        return caller.owner_id

    require_guards(router)

    @router.get("/forgotten")
    async def forgotten(_harmless: Annotated[None, Depends(_harmless)]) -> str:
        return "everything"

    with pytest.raises(RouteWithoutGuardError, match="/forgotten"):
        require_guards(router)


async def _harmless() -> None:
    """A dependency that asks nobody who they are."""


@pytest.mark.req("AUTH-2")
async def test_an_identity_in_a_body_or_an_address_is_never_taken_over(anna: Person) -> None:
    forged = {"user_id": "olga", "groups": ["finance"], "roles": ["admin"]}
    for body in ({"message": "Hi", "identity": forged}, {"message": "Hi", **forged}):
        assert (await anna.client.post("/api/v1/chat", json=body)).status_code == 422
    session = await anna.client.get("/api/v1/session", params={"user_id": "olga", "identity": "olga"})
    assert session.json()["user"]["user_id"] == "anna"
    created = await anna.client.post("/api/v1/api-keys", params={"owner_id": "olga"}, json={"name": "mine"})
    assert created.json()["owner_id"] == "anna"


async def test_signing_in_as_a_demo_person_ends_the_session_before(front: RunningFront) -> None:
    async with front.anybody() as client:
        await client.post("/api/v1/session", json={"user_id": "anna"})
        first = client.cookies["achilles_session"]
        await client.post("/api/v1/session", json={"user_id": "olga"})
        assert client.cookies["achilles_session"] != first
    async with front.anybody() as client:
        response = await client.get("/api/v1/session", headers={"cookie": f"achilles_session={first}"})
        assert response.status_code == 401
