"""One list contract for every list of the API, found in its own description."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from services.chat_api.main import create_app
from tests.support.front import make_front_settings, running_front
from tests.support.list_routes import LIST_ROUTES, ListFixture, ListRoute
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LIST_FIELDS = {"object", "data", "first_id", "last_id", "has_more"}
_EVERY_LIST = pytest.mark.parametrize("path", LIST_ROUTES)


class Listed:
    """One list of a running front."""

    def __init__(self, fixture: ListFixture, route: ListRoute, path: str) -> None:
        self.fixture = fixture
        self.route = route
        self.path = path

    async def page(self, **query: Any) -> dict[str, Any]:
        """In the descending order, unless asked otherwise."""
        response = await self._get({"order": "desc", **query})
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        assert set(body) == _LIST_FIELDS
        assert body["object"] == "list"
        return body

    async def _get(self, query: dict[str, Any]) -> httpx.Response:
        return await self.fixture.person.client.get(self.path, params=query, headers=self.route.headers)

    def ids(self, page: dict[str, Any]) -> list[str]:
        return [str(entry[self.route.id_field]) for entry in page["data"]]

    async def all_ids(self, **query: Any) -> list[str]:
        return self.ids(await self.page(limit=100, **query))

    async def walk(self, **query: Any) -> list[str]:
        """Every entry, two at a time, following `last_id`."""
        found: list[str] = []
        page = await self.page(limit=2, **query)
        while True:
            found += self.ids(page)
            if not page["has_more"]:
                return found
            page = await self.page(limit=2, after=page["last_id"], **query)

    async def status(self, **query: Any) -> int:
        response = await self._get(query)
        assert response.status_code == 200 or response.headers["content-type"] == "application/problem+json"
        return response.status_code


@pytest_asyncio.fixture
async def listed(
    path: str,
    database_url: str,
    nats_url: str,
    redis_url: str,
    store: StubKnowledgeStore,
    model: ScriptedModel,
    rows: Rows,
) -> AsyncIterator[Listed]:
    route = LIST_ROUTES[path]
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, **route.settings)
    async with running_front(settings, model) as front, front.person(route.user_id) as person:
        fixture = ListFixture(person, rows)
        yield Listed(fixture, route, await route.fill(fixture))


@pytest.mark.req("CONV-4")
def test_every_list_of_the_api_is_held_to_the_contract() -> None:
    settings = make_front_settings("postgresql://u:p@127.0.0.1:1/d", "nats://127.0.0.1:1", "redis://127.0.0.1:1", "")
    described = create_app(settings).openapi()
    lists = {
        path
        for path, methods in described["paths"].items()
        if path.startswith("/api/v1/") and "get" in methods and _is_list(methods["get"], described)
    }
    assert lists == set(LIST_ROUTES), "add the list to tests/support/list_routes.py"


def _is_list(operation: dict[str, Any], described: dict[str, Any]) -> bool:
    """By its answer or by its parameters: a list that keeps half of the contract is one as well."""
    schema = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    answer = schema.get("properties", {})
    parameters = {one["name"] for one in operation.get("parameters", ())}
    is_list = answer.get("object", {}).get("const") == "list" or answer.get("data", {}).get("type") == "array"
    return is_list or schema.get("type") == "array" or bool({"after", "before", "limit"} & parameters)


@_EVERY_LIST
@pytest.mark.req("CONV-4", "HTTP-7")
async def test_a_list_can_be_walked_in_both_orders_and_back(listed: Listed) -> None:
    newest_first = await listed.all_ids()
    assert len(newest_first) >= listed.route.at_least
    assert len(set(newest_first)) == len(newest_first)
    assert await listed.all_ids(order="asc") == newest_first[::-1]
    assert await listed.walk() == newest_first
    assert await listed.walk(order="asc") == newest_first[::-1]
    last_of_all = (await listed.page(limit=100))["last_id"]
    back = await listed.page(limit=2, before=last_of_all)
    assert (listed.ids(back), back["has_more"]) == (newest_first[-3:-1], len(newest_first) > 3)
    first = await listed.page(limit=2, before=back["last_id"])
    assert listed.ids(first) == newest_first[-min(4, len(newest_first)) : -2]
    beyond = await listed.page(after=last_of_all)
    assert (beyond["data"], beyond["first_id"], beyond["last_id"], beyond["has_more"]) == ([], None, None, False)


@_EVERY_LIST
@pytest.mark.req("CONV-4", "HTTP-7")
async def test_a_list_refuses_what_it_cannot_mean(listed: Listed) -> None:
    assert len(listed.ids(await listed.page(limit=1))) == 1
    for limit in (0, 101, -1, "x"):
        assert await listed.status(limit=limit) == 422, limit
    assert await listed.status(order="sideways") == 422
    cursor = (await listed.page())["last_id"]
    for bad in ("", "x", "\x00", "0", "00000000-0000-0000-0000-000000000000", "ю" * 300, f"{cursor}x"):
        assert await listed.status(after=bad) == 400, bad
        assert await listed.status(before=bad) == 400, bad
    assert await listed.status(after=cursor, before=cursor) == 400


@_EVERY_LIST
@pytest.mark.req("CONV-4", "HTTP-7")
async def test_entries_that_come_or_move_neither_shift_nor_repeat_the_others(listed: Listed) -> None:
    before = await listed.all_ids()
    first = await listed.page(limit=2)
    await listed.route.insert(listed.fixture, listed.path)
    await listed.route.move(listed.fixture, listed.ids(first)[-1])
    second = await listed.page(limit=2, after=first["last_id"])
    assert listed.ids(second) == before[2:4]
    if second["data"]:
        back = await listed.page(limit=2, before=second["first_id"])
        assert not set(listed.ids(back)) & set(before[2:])
