"""A broker that belongs to one test, which may stop it, freeze it or change its users."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from shared.embedded.data_folder import DataFolder
from shared.embedded.nats import EmbeddedNats
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore


@pytest.fixture
def bus_folder() -> Iterator[DataFolder]:
    folder = Path(tempfile.mkdtemp(prefix="achilles-bus-"))
    yield DataFolder.prepared(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture
async def own_nats(bus_folder: DataFolder) -> AsyncIterator[EmbeddedNats]:
    server = EmbeddedNats(bus_folder)
    await server.start()
    yield server
    if server.process.is_running:
        server.thaw()
    await server.stop()


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest_asyncio.fixture
async def store() -> AsyncIterator[StubKnowledgeStore]:
    async with StubKnowledgeStore().running() as stub:
        yield stub
