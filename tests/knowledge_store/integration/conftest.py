"""One running store with the embedder of words, and a folder to fill."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.fake_embedder import FakeEmbedder
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore, run_store


@pytest.fixture
def folder(tmp_path: Path) -> KnowledgeFolder:
    return KnowledgeFolder(tmp_path / "handbook")


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
async def store(fresh_database_url: str, embedder: FakeEmbedder) -> AsyncIterator[RunningStore]:
    async with run_store(fresh_database_url, embedder) as running:
        embedder.embedded.clear()
        yield running
