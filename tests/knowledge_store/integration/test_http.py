"""The routes: who may call, what is refused, and that a fault is never an empty result."""

import json

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from shared.database.engine import asyncpg_url
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

PROBLEM = "application/problem+json"


@pytest.mark.parametrize("header", ["", "Bearer wrong", "Basic a-service-token", "Bearer", "Bearer a-service-token-"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/search"), ("POST", "/v1/record"), ("GET", "/v1/status")])
async def test_call_without_the_service_token_is_refused(
    store: RunningStore, method: str, path: str, header: str
) -> None:
    response = await store.client.request(method, path, headers={"authorization": header}, json={"query": "x"})
    assert (response.status_code, response.headers["content-type"]) == (401, PROBLEM)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": ""}, "body.query"),
        ({"query": "x", "top_k": 0}, "body.top_k"),
        ({"query": "x" * 4_001}, "body.query"),
        ({"query": "x", "roles": ["admin"]}, "body.roles"),
        ({"query": "x", "identity": {"user_id": ""}}, "body.identity.user_id"),
        ({"query": "x", "identity": {"user_id": "a\x00b", "display_name": "A"}}, "NUL"),
        ([], "body"),
    ],
)
async def test_invalid_search_is_a_problem_that_names_the_field(store: RunningStore, body: object, named: str) -> None:
    response = await store.client.post("/v1/search", json=body)
    assert (response.status_code, response.headers["content-type"]) == (422, PROBLEM)
    assert named in response.json()["detail"]


async def test_refusal_does_not_repeat_what_was_sent(store: RunningStore) -> None:
    response = await store.client.post("/v1/search", content=json.dumps({"query": ["my secret"]}))
    assert response.status_code == 422
    assert "my secret" not in response.text


async def test_body_that_is_too_long_is_refused(store: RunningStore) -> None:
    response = await store.client.post("/v1/search", json={"query": "x" * 300_000})
    assert (response.status_code, response.headers["content-type"]) == (413, PROBLEM)


async def test_unknown_path_is_a_problem(store: RunningStore) -> None:
    response = await store.client.get("/v2/search")
    assert (response.status_code, response.headers["content-type"]) == (404, PROBLEM)


async def test_broken_database_is_an_error_and_never_empty(
    folder: KnowledgeFolder, store: RunningStore, fresh_database_url: str
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    await store.ingest(folder)
    engine = create_async_engine(asyncpg_url(fresh_database_url))
    async with engine.begin() as connection:
        await connection.execute(text("ALTER SCHEMA knowledge RENAME TO away"))
    for response in (
        await store.client.post("/v1/search", json={"query": "leave"}),
        await store.client.get("/v1/status"),
        await store.read("handbook/leave.md"),
    ):
        assert (response.status_code, response.headers["content-type"]) == (503, PROBLEM)
        assert "retry-after" in response.headers
        assert "SELECT" not in response.text
    async with engine.begin() as connection:
        await connection.execute(text("ALTER SCHEMA away RENAME TO knowledge"))
    await engine.dispose()
    assert (await store.search("days of leave")).outcome == "hits"


async def test_health_needs_no_token(store: RunningStore) -> None:
    for path in ("/livez", "/readyz"):
        response = await store.client.get(path, headers={"authorization": ""})
        assert response.status_code == 200


async def test_record_is_read_whole(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("a b/leave.md", "---\ntitle: Time off\n---\n# Leave\n\n28 days\n\n## Sick\n\nCall\n")
    await store.ingest(folder)
    body = (await store.read("handbook/a b/leave.md")).json()
    assert body.pop("updated_at")
    assert body == {
        "record_id": "handbook/a b/leave.md",
        "title": "Time off",
        "text": "# Leave\n\n28 days\n\n## Sick\n\nCall",
        "media_type": "text/markdown",
        "source_system": "handbook",
        "url": "/sources/handbook/a%20b/leave.md",
    }
