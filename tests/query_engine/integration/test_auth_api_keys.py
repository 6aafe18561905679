"""API keys: made by a person, shown once, good for the routes under /v1 only."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from services.chat_api.http.authentication import ApiCaller, ApiModelsCaller, require_guards
from services.chat_api.main import create_app
from services.chat_api.settings import ChatApiSettings
from tests.support.front import Person, RunningFront, make_front_settings
from tests.support.http_server import serving
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]


def _app_with_api_routes(settings: ChatApiSettings) -> FastAPI:
    """The front, and a route for each scope that says who asks."""
    app = create_app(settings, model=ScriptedModel())
    router = APIRouter(prefix="/v1/probe")

    @router.get("/chat")
    async def chat(caller: ApiCaller) -> dict[str, Any]:
        return {"owner": caller.owner_id, "groups": caller.identity.groups if caller.identity else None}

    @router.get("/models")
    async def models(caller: ApiModelsCaller) -> dict[str, Any]:
        return {"owner": caller.owner_id}

    require_guards(router)
    app.include_router(router)
    return app


@asynccontextmanager
async def _front(*places: str, **more: Any) -> AsyncIterator[RunningFront]:
    async with serving(_app_with_api_routes(make_front_settings(*places, **more))) as url:
        yield RunningFront(url)


@pytest.fixture
def places(database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore) -> tuple[str, str, str, str]:
    return database_url, nats_url, redis_url, store.url


async def _make(person: Person, **body: Any) -> dict[str, Any]:
    response = await person.client.post("/api/v1/api-keys", json={"name": "Open WebUI", **body})
    assert response.status_code == 201, response.text
    assert response.headers["cache-control"] == "no-store"
    made: dict[str, Any] = response.json()
    return made


async def _status(front: RunningFront, secret: str, path: str) -> tuple[int, str | None]:
    async with front.anybody() as client:
        response = await client.get(path, headers={"authorization": f"Bearer {secret}"})
        body = response.json()
        return response.status_code, body.get("error", body).get("code")


@pytest.mark.req("AUTH-1")
async def test_a_key_asks_in_its_persons_name_within_its_scopes(places: tuple[str, ...], rows: Rows) -> None:
    async with _front(*places) as front, front.person("hana") as hana:
        whole, models_only = await _make(hana), await _make(hana, scopes=["models"])
        async with front.anybody() as client:
            asked = await client.get("/v1/probe/chat", headers={"authorization": f"bearer {whole['secret']}"})
        assert asked.json() == {"owner": "hana", "groups": ["hr", "staff"]}
        assert await _status(front, whole["secret"], "/v1/probe/models") == (200, None)
        assert await _status(front, models_only["secret"], "/v1/probe/models") == (200, None)
        assert await _status(front, models_only["secret"], "/v1/probe/chat") == (403, "scope_missing")
        for path in ("/api/v1/conversations", "/api/v1/api-keys", "/api/v1/session"):
            assert await _status(front, whole["secret"], path) == (401, "token_refused")
        assert (await hana.client.get("/v1/probe/chat")).json()["owner"] == "hana", "a session is as good"
        assert await _status(front, "ak-" + "x" * 43, "/v1/probe/chat") == (401, "api_key_refused")
        assert await _status(front, "ak-short", "/v1/probe/chat") == (401, "api_key_refused")
        async with front.anybody() as client:
            assert (await client.get("/v1/probe/chat")).status_code == 401
    kept = str(await rows.all("SELECT * FROM chat.api_keys"))
    assert whole["secret"] not in kept
    assert whole["secret"][len(whole["start"]) :] not in kept


@pytest.mark.req("AUTH-1")
async def test_a_revoked_or_expired_key_is_refused_at_once(places: tuple[str, ...], rows: Rows) -> None:
    async with _front(*places) as front, front.person("anna") as anna:
        revoked, expiring = await _make(anna), await _make(anna, expires_at=_in(timedelta(hours=1)))
        for key in (revoked, expiring):
            assert await _status(front, key["secret"], "/v1/probe/chat") == (200, None)
        assert (await anna.client.delete(f"/api/v1/api-keys/{revoked['id']}")).status_code == 204
        await rows.run("UPDATE chat.api_keys SET expires_at = now() - interval '1 second'")
        for key in (revoked, expiring):
            assert await _status(front, key["secret"], "/v1/probe/chat") == (401, "api_key_refused")


async def test_the_list_tells_keys_apart_and_never_tells_a_secret(places: tuple[str, ...]) -> None:
    async with _front(*places) as front, front.person("anna") as anna, front.person("hana") as hana:
        first, second = await _make(anna, name="first"), await _make(anna, name="second")
        await _make(hana)
        assert await _status(front, first["secret"], "/v1/probe/chat") == (200, None)
        listed = (await anna.client.get("/api/v1/api-keys")).json()
        assert [one["name"] for one in listed["data"]] == ["second", "first"]
        assert (listed["object"], listed["has_more"], listed["last_id"]) == ("list", False, first["id"])
        assert [one["last_used_at"] is None for one in listed["data"]] == [True, False]
        assert "secret" not in str(listed)
        page = (await anna.client.get("/api/v1/api-keys", params={"limit": 1})).json()
        assert ([one["id"] for one in page["data"]], page["has_more"]) == ([second["id"]], True)
        rest = (await anna.client.get("/api/v1/api-keys", params={"limit": 1, "after": second["id"]})).json()
        assert [one["id"] for one in rest["data"]] == [first["id"]]
        assert (await anna.client.get("/api/v1/api-keys", params={"after": str(uuid4())})).status_code == 400


async def test_only_its_owner_or_an_admin_revokes_a_key(places: tuple[str, ...]) -> None:
    async with _front(*places) as front, front.person("anna") as anna, front.person("hana") as hana:
        key = await _make(anna)
        headers = {"x-request-id": "r1"}
        hidden = await hana.client.delete(f"/api/v1/api-keys/{key['id']}", headers=headers)
        unknown = await hana.client.delete(f"/api/v1/api-keys/{uuid4()}", headers=headers)
        assert (hidden.status_code, hidden.content) == (404, unknown.content)
        everybody = {"everybody": "true"}
        assert (await hana.client.get("/api/v1/api-keys", params=everybody)).status_code == 403
        async with front.person("olga") as olga:
            seen = (await olga.client.get("/api/v1/api-keys", params=everybody)).json()["data"]
            assert [one["owner_id"] for one in seen] == ["anna"]
            assert (await olga.client.delete(f"/api/v1/api-keys/{key['id']}")).status_code == 204
        assert await _status(front, key["secret"], "/v1/probe/chat") == (401, "api_key_refused")


def _in(later: timedelta) -> str:
    return (datetime.now(UTC) + later).isoformat()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "  "},
        {"name": "x" * 101},
        {"name": "a\x00b"},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["admin"]},
        {"name": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x", "expires_at": "2099-01-01T00:00:00"},
        {"name": "x", "owner_id": "olga"},
    ],
)
async def test_a_key_that_makes_no_sense_is_refused(anna: Person, rows: Rows, body: dict[str, Any]) -> None:
    response = await anna.client.post("/api/v1/api-keys", json=body)
    assert response.status_code == 422, response.text
    assert await rows.count("chat.api_keys") == 0


async def test_the_number_of_keys_is_bounded(anna: Person) -> None:
    for _ in range(50):
        await _make(anna)
    response = await anna.client.post("/api/v1/api-keys", json={"name": "one too many"})
    assert (response.status_code, response.json()["code"]) == (409, "too_many_api_keys")


@pytest.mark.req("AUTH-5")
@pytest.mark.parametrize("name", ["access_token", "api_key", "API_KEY", "token", "id_token", "Authorization"])
async def test_a_secret_in_the_address_is_refused_whoever_sends_it(
    anna: Person, front: RunningFront, name: str
) -> None:
    for client in (anna.client, httpx.AsyncClient(base_url=front.url)):
        for path in ("/api/v1/conversations", "/api/v1/session", "/api/v1/session/people"):
            response = await client.get(path, params={name: "ak-" + "s" * 43})
            assert (response.status_code, response.json()["code"]) == (400, "token_in_query")
            assert "sss" not in response.text
