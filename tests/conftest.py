"""Fixtures for every test, and the rule that each test says what kind it is."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine

from shared.database.engine import make_engine
from shared.database.migrate import upgrade_schema
from tests.support.rows import Rows
from tests.support.servers import (
    ServerUrls,
    create_database,
    drop_database,
    empty_bus,
    empty_cache,
    running_servers,
)

_TYPES = ("unit", "integration")
_PRIORITIES = ("p0", "p1")


def pytest_addoption(parser: pytest.Parser) -> None:
    chaos = parser.getgroup("chaos")
    chaos.addoption("--chaos-seeds", type=int, default=1, help="how many seeds the chaos run is done with")
    chaos.addoption("--chaos-first-seed", type=int, default=1, help="the first of them")
    chaos.addoption("--chaos-seconds", type=float, default=25.0, help="how long faults happen in each")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wrong = [item.nodeid for item in items if not (_has_one(item, _TYPES) and _has_one(item, _PRIORITIES))]
    if wrong:
        raise pytest.UsageError("exactly one of unit/integration and one of p0/p1 is needed on: " + ", ".join(wrong))


def _has_one(item: pytest.Item, names: tuple[str, ...]) -> bool:
    return sum(item.get_closest_marker(name) is not None for name in names) == 1


@pytest.fixture(scope="session")
def servers() -> Iterator[ServerUrls]:
    with running_servers() as urls:
        yield urls


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def migrated_template(servers: ServerUrls) -> AsyncIterator[str]:
    """The name of a database with the current schema, to be copied instead of migrated for each test."""
    url = await create_database(servers.database)
    await upgrade_schema(url)
    yield make_url(url).database or ""
    await drop_database(servers.database, url)


@pytest_asyncio.fixture
async def fresh_database_url(servers: ServerUrls) -> AsyncIterator[str]:
    """An empty database."""
    url = await create_database(servers.database)
    yield url
    await drop_database(servers.database, url)


@pytest_asyncio.fixture
async def database_url(servers: ServerUrls, migrated_template: str) -> AsyncIterator[str]:
    """A database with the current schema and no rows."""
    url = await create_database(servers.database, template=migrated_template)
    yield url
    await drop_database(servers.database, url)


@pytest_asyncio.fixture
async def nats_url(servers: ServerUrls) -> str:
    """NATS without any stream."""
    await empty_bus(servers.nats)
    return servers.nats


@pytest_asyncio.fixture
async def redis_url(servers: ServerUrls) -> str:
    """An empty cache."""
    await empty_cache(servers.redis)
    return servers.redis


@pytest_asyncio.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(database_url, application_name="test")
    yield engine
    await engine.dispose()


@pytest_asyncio.fixture
async def rows(database_url: str) -> AsyncIterator[Rows]:
    async with Rows.of(database_url) as found:
        yield found
