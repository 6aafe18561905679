"""The list that a Knowledge Store catches up from: complete, in order, and for nobody else."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.storage.accesses import apply_accesses
from tests.support.events import make_click
from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.stub_knowledge_store import STORE_TOKEN

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_PATH = "/api/v1/access-signals"


@pytest_asyncio.fixture
async def store_client(front: RunningFront) -> AsyncIterator[httpx.AsyncClient]:
    async with front.anybody() as client:
        client.headers["authorization"] = f"Bearer {STORE_TOKEN}"
        yield client


async def _write(engine: AsyncEngine, count: int) -> None:
    for n in range(count):
        async with engine.begin() as connection:
            await apply_accesses(connection, [make_click(f"k{n}", record_id=f"{n}.md")])


async def test_every_access_comes_once_and_in_the_order_it_was_written(
    engine: AsyncEngine, store_client: httpx.AsyncClient
) -> None:
    await _write(engine, 7)
    records: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(10):
        body = (await store_client.get(_PATH, params={"limit": 3, **cursor})).json()
        records += [one["record_id"] for one in body["data"]]
        cursor = {"after": body["last_id"]}
        if not body["has_more"]:
            break
    assert records == [f"{n}.md" for n in range(7)]
    assert body["object"] == "list"
    assert body["data"][0].keys() == {"id", "record_id", "source_system", "kind", "occurred_at", "applied_at"}
    assert (await store_client.get(_PATH, params=cursor)).json()["data"] == []


async def test_insert_behind_the_cursor_shifts_nothing(engine: AsyncEngine, store_client: httpx.AsyncClient) -> None:
    await _write(engine, 4)
    first = (await store_client.get(_PATH, params={"limit": 2})).json()
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE signals.accesses SET applied_at = applied_at - interval '1 hour' WHERE record_id = '0.md'")
        )
    rest = (await store_client.get(_PATH, params={"after": first["last_id"]})).json()
    assert [one["record_id"] for one in rest["data"]] == ["2.md", "3.md"]


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", f"Basic {STORE_TOKEN}", f"Bearer {STORE_TOKEN}x"])
async def test_nobody_else_may_read_not_even_signed_in(anna: Person, header: str) -> None:
    response = await anna.client.get(_PATH, headers={"authorization": header})
    assert (response.status_code, response.json()["code"]) == (401, "store_token_required")


async def test_without_a_configured_token_nobody_may_read(database_url: str, nats_url: str, redis_url: str) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, "http://127.0.0.1:1", knowledge_token="")
    async with running_front(settings) as front, front.anybody() as client:
        for header in ("", "Bearer", "Bearer x"):
            assert (await client.get(_PATH, headers={"authorization": header})).status_code == 401


@pytest.mark.parametrize("cursor", ["0b5c2f4e-7f0a-4f0e-9a63-0f6c6f0d9a51", "nonsense"])
async def test_cursor_that_names_nothing_is_refused(store_client: httpx.AsyncClient, cursor: str) -> None:
    response = await store_client.get(_PATH, params={"after": cursor})
    assert (response.status_code, response.json()["code"]) == (400, "bad_cursor")


async def test_empty_list_is_a_list(store_client: httpx.AsyncClient) -> None:
    body = (await store_client.get(_PATH)).json()
    assert body == {"object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False}
