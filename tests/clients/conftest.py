"""Real clients against a running front."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.clients.node_scripts import NodeScripts, installed_scripts
from tests.query_engine.conftest import anna, front, model, store
from tests.support.front import Person, RunningFront

__all__ = ["anna", "front", "model", "store"]


@pytest.fixture(scope="session")
def node() -> NodeScripts:
    return installed_scripts()


@pytest_asyncio.fixture
async def cookie(anna: Person, front: RunningFront) -> AsyncIterator[str]:
    """Anna's session, as a header that any client can be told to send."""
    yield f"achilles_session={anna.client.cookies['achilles_session']}"
