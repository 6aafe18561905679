"""Real clients against a running front."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.clients.node_scripts import NodeScripts, installed_scripts
from tests.query_engine.conftest import anna, model, store
from tests.support.front import Person, RunningFront, make_api_key, make_front_settings, running_front
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore

__all__ = ["anna", "model", "store"]


@pytest.fixture(scope="session")
def node() -> NodeScripts:
    return installed_scripts()


@pytest_asyncio.fixture
async def front(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, model: ScriptedModel
) -> AsyncIterator[RunningFront]:
    """Its streams are full of comments, which every client has to pass over."""
    more = {"turn_deadline": 20, "keep_alive_every": 0.05}
    async with running_front(
        make_front_settings(database_url, nats_url, redis_url, store.url, **more), model
    ) as running:
        yield running


@pytest_asyncio.fixture
async def cookie(anna: Person, front: RunningFront) -> AsyncIterator[str]:
    """Anna's session, as a header that any client can be told to send."""
    yield f"achilles_session={anna.client.cookies['achilles_session']}"


@pytest_asyncio.fixture
async def api_key(anna: Person) -> str:
    """A key in Anna's name, as she would give it to a program."""
    return await make_api_key(anna)
