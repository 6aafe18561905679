"""Folders that the unprivileged user of the servers can enter, which pytest's own are not when root runs it."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from shared.embedded.servers import EmbeddedServers, embedded_servers


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="achilles-embedded-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers() -> AsyncIterator[EmbeddedServers]:
    folder = Path(tempfile.mkdtemp(prefix="achilles-embedded-"))
    try:
        async with embedded_servers(folder, durable=False) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)
