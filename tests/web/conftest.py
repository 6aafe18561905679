"""The real page in a real Chromium, against one real front with a scripted model and a stub store.

Browser and front start once: each test gets an empty database, a silent model and a window of its own.
"""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.support.browser import Visitor, find_chromium, running_chromium, visiting
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel
from tests.support.servers import ServerUrls, create_database, drop_database
from tests.support.stub_knowledge_store import StubKnowledgeStore


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium found: install one, or set ACHILLES_TEST_CHROMIUM to its path")
    async with running_chromium(executable) as browser:
        yield browser


@pytest.fixture(scope="session")
def _one_model() -> ScriptedModel:
    return ScriptedModel()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _one_store() -> AsyncIterator[StubKnowledgeStore]:
    async with StubKnowledgeStore().running() as stub:
        yield stub


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _one_database(servers: ServerUrls, migrated_template: str) -> AsyncIterator[str]:
    url = await create_database(servers.database, template=migrated_template)
    yield url
    await drop_database(servers.database, url)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def front(
    servers: ServerUrls, _one_database: str, _one_store: StubKnowledgeStore, _one_model: ScriptedModel
) -> AsyncIterator[RunningFront]:
    settings = make_front_settings(
        _one_database, servers.nats, servers.redis, _one_store.url, turn_deadline=20, models="second-model"
    )
    async with running_front(settings, _one_model) as running:
        yield running


@pytest.fixture
def model(_one_model: ScriptedModel) -> ScriptedModel:
    _one_model.forget()
    return _one_model


@pytest.fixture
def store(_one_store: StubKnowledgeStore) -> StubKnowledgeStore:
    _one_store.forget()
    return _one_store


@pytest_asyncio.fixture(loop_scope="session")
async def rows(_one_database: str) -> AsyncIterator[Rows]:
    async with Rows.of(_one_database) as found:
        await found.run("TRUNCATE chat.conversations, mesh.outbox CASCADE")
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(
    browser: Browser, front: RunningFront, rows: Rows, model: ScriptedModel, store: StubKnowledgeStore
) -> AsyncIterator[Visitor]:
    async with visiting(browser, front) as visitor:
        yield visitor


@pytest_asyncio.fixture(loop_scope="session")
async def anna(visitor: Visitor) -> Visitor:
    await visitor.sign_in("anna")
    return visitor
