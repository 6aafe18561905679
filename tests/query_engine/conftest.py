"""A running front over real servers, with a scripted model and a Knowledge Store that answers what a test wants."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest_asyncio.fixture
async def store() -> AsyncIterator[StubKnowledgeStore]:
    async with StubKnowledgeStore().running() as stub:
        yield stub


@pytest_asyncio.fixture
async def front(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, model: ScriptedModel
) -> AsyncIterator[RunningFront]:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, turn_deadline=20)
    async with running_front(settings, model) as running:
        yield running


@pytest_asyncio.fixture
async def anna(front: RunningFront) -> AsyncIterator[Person]:
    async with front.person("anna") as person:
        yield person


@pytest_asyncio.fixture
async def hana(front: RunningFront) -> AsyncIterator[Person]:
    async with front.person("hana") as person:
        yield person
