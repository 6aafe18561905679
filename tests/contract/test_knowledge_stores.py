"""The stub of the tests and the embedded store speak one contract, read by the front's own client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from services.chat_api.adapters.knowledge_client import KnowledgeClient, KnowledgeUnavailableError
from services.knowledge_store.main import create_app
from services.knowledge_store.settings import KnowledgeStoreSettings
from services.knowledge_store.wiring import ingest_folder
from shared.identity import Identity
from tests.support.http_server import serving
from tests.support.stub_knowledge_store import STORE_TOKEN, StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_QUESTION = "How many days of annual leave does a full-time employee have?"
_ANNA = Identity(user_id="anna", display_name="Anna", groups=("staff",))


@asynccontextmanager
async def _embedded(database_url: str, folder: Path) -> AsyncIterator[str]:
    (folder / "leave.md").write_text(f"# Annual leave\n\n{_LEAVE}\n", encoding="utf-8")
    await ingest_folder(folder, database_url=database_url, on_progress=lambda _progress: None)
    settings = KnowledgeStoreSettings.model_validate({"database_url": database_url, "knowledge_token": STORE_TOKEN})
    async with serving(create_app(settings)) as url:
        yield url


@pytest_asyncio.fixture(params=["stub", "embedded"])
async def store_url(request: pytest.FixtureRequest, fresh_database_url: str, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "embedded":
        folder = tmp_path / "handbook"
        folder.mkdir()
        async with _embedded(fresh_database_url, folder) as url:
            yield url
        return
    stub = StubKnowledgeStore()
    stub.holds(_LEAVE)
    async with stub.running():
        yield stub.url


@asynccontextmanager
async def _client(url: str, token: str = STORE_TOKEN) -> AsyncIterator[KnowledgeClient]:
    client = KnowledgeClient(url, token, timeout=timedelta(seconds=10), status_timeout=timedelta(seconds=5))
    try:
        yield client
    finally:
        await client.close()


async def test_a_search_brings_ranked_hits_of_this_store_and_version(store_url: str) -> None:
    async with _client(store_url) as client:
        status = await client.status()
        response = await client.search(_QUESTION, _ANNA, top_k=8)
    assert (response.outcome, response.withheld) == ("hits", ())
    assert [hit.rank for hit in response.hits] == list(range(1, len(response.hits) + 1))
    assert _LEAVE in response.hits[0].text
    assert (response.store_id, response.knowledge_version) == (status.store_id, status.knowledge_version)
    assert status.is_empty is False


async def test_an_absent_identity_is_accepted_as_absent(store_url: str) -> None:
    async with _client(store_url) as client:
        assert (await client.search(_QUESTION, None, top_k=8)).outcome == "hits"


async def test_a_wrong_token_is_a_fault_and_not_an_empty_result(store_url: str) -> None:
    async with _client(store_url, "wrong") as client:
        with pytest.raises(KnowledgeUnavailableError) as refused:
            await client.search(_QUESTION, _ANNA, top_k=8)
        with pytest.raises(KnowledgeUnavailableError):
            await client.status()
    assert refused.value.kind == "refused"


async def test_a_dead_store_is_a_fault() -> None:
    async with _client("http://127.0.0.1:1") as client:
        with pytest.raises(KnowledgeUnavailableError) as away:
            await client.search(_QUESTION, _ANNA, top_k=8)
    assert away.value.kind == "unreachable"
