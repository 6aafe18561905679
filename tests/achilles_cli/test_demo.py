"""The demo documents are read once, and never against the owner's wish."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from services.achilles_cli.demo import ingest_demo_once
from services.achilles_cli.ingestion import ingest_with_progress
from services.achilles_cli.supervisor.report import Report
from services.knowledge_store.storage.migrate import upgrade_knowledge_schema
from shared.embedded.probes import connect_postgres
from shared.embedded.servers import embedded_servers

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_CONSOLE = Console(file=StringIO())


@dataclass(frozen=True)
class Store:
    folder: Path
    url: str
    corpus: Path

    async def read_demo(self) -> None:
        await ingest_demo_once(self.folder, self.url, Report(_CONSOLE), self.corpus)

    async def records(self) -> list[str]:
        connection = await connect_postgres(self.url)
        try:
            rows = await connection.fetch("SELECT record_id FROM knowledge.document ORDER BY record_id")
        finally:
            await connection.close()
        return [row["record_id"] for row in rows]


def make_open_folder() -> Path:
    """The servers' own user has to get through."""
    folder = Path(tempfile.mkdtemp(prefix="achilles-demo-"))
    folder.chmod(0o711)
    return folder


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    folder = make_open_folder()
    corpus = folder / "demo"
    corpus.mkdir()
    (corpus / "leave.md").write_text("# Leave\n\nThere are 28 days of leave.\n")
    try:
        async with embedded_servers(folder / "data", durable=False) as servers:
            await upgrade_knowledge_schema(servers.postgres.url)
            yield Store(folder, servers.postgres.url, corpus)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def test_an_empty_store_gets_the_demo_once_and_what_was_deleted_stays_deleted(store: Store) -> None:
    await store.read_demo()
    assert await store.records() == ["demo/leave.md"]

    connection = await connect_postgres(store.url)
    await connection.execute("DELETE FROM knowledge.document")
    await connection.close()
    await store.read_demo()
    assert await store.records() == []


async def test_an_interrupted_reading_goes_on(store: Store) -> None:
    await store.read_demo()
    (store.corpus / "parking.md").write_text("# Parking\n\nParking is free.\n")
    (store.folder / "demo-documents").write_text("reading")
    await store.read_demo()
    assert await store.records() == ["demo/leave.md", "demo/parking.md"]


async def test_a_store_with_documents_of_its_own_is_left_alone(store: Store) -> None:
    own = store.folder / "own"
    own.mkdir()
    (own / "note.md").write_text("# Note\n\nOurs.\n")
    await ingest_with_progress(own, store.url, _CONSOLE)
    await store.read_demo()
    assert await store.records() == ["own/note.md"]


async def test_private_files_without_declared_rights_are_for_nobody(store: Store) -> None:
    report = await ingest_with_progress(store.corpus, store.url, _CONSOLE, is_private=True)
    assert report.without_access == 1
    connection = await connect_postgres(store.url)
    rows = await connection.fetch("SELECT is_public, readers FROM knowledge.document")
    await connection.close()
    assert [(row["is_public"], row["readers"]) for row in rows] == [(False, [])]
