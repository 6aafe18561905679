"""HTML, PDF and DOCX through a whole ingest: found, read, closed and reported like any other file."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from services.chat_api.adapters.knowledge_client import SourceDocument
from services.chat_api.http.pages import render_document
from services.knowledge_store.adapters.documents.conversion import ConversionProcess
from services.knowledge_store.adapters.documents.conversion_worker import ConversionLimits
from services.knowledge_store.domain.errors import UnreadableFileError
from tests.support.document_files import Part, make_docx, make_pdf
from tests.support.fake_embedder import FakeEmbedder
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore, make_identity

pytestmark = [pytest.mark.integration, pytest.mark.p1]

PARKING = '<title>Parking</title><h1>Parking</h1><p>There are 120 <a href="javascript:x()">parking spaces</a>.</p>'
DOCX = make_docx([Part("title", "Fire drill"), Part("text", "The fire drill takes place in April.")])
PDF = make_pdf([["The lathe manual of the workshop."], ["Oil the lathe every Friday."]], title="Lathe manual")


@pytest.fixture
def filled(folder: KnowledgeFolder) -> KnowledgeFolder:
    folder.write("parking.html", PARKING)
    folder.write("drill.docx", DOCX)
    folder.write("lathe.pdf", PDF)
    return folder


@pytest.fixture
def process() -> Iterator[ConversionProcess]:
    process = ConversionProcess()
    yield process
    process.close()


async def test_every_format_is_found_by_its_content(filled: KnowledgeFolder, store: RunningStore) -> None:
    report = await store.ingest(filled)
    assert (report.added, report.failures, report.remarks) == (3, (), ())
    for question, record, title in (
        ("How many parking spaces are there?", "parking.html", "Parking"),
        ("When does the fire drill take place?", "drill.docx", "Fire drill"),
        ("When to oil the lathe?", "lathe.pdf", "Lathe manual"),
    ):
        hit = (await store.search(question)).hits[0]
        assert (hit.record_id, hit.title) == (f"handbook/{record}", title)


async def test_their_records_are_read_as_pages_that_do_nothing(filled: KnowledgeFolder, store: RunningStore) -> None:
    await store.ingest(filled)
    rendered = {}
    for name, media_type in (
        ("parking.html", "text/markdown"),
        ("drill.docx", "text/markdown"),
        ("lathe.pdf", "text/plain"),
    ):
        record = SourceDocument.model_validate((await store.read(f"handbook/{name}")).json())
        assert record.media_type == media_type
        rendered[name] = render_document(record)
    assert "<h1>Parking</h1>" in rendered["parking.html"]
    assert "120 parking spaces" in rendered["parking.html"]
    assert "javascript" not in rendered["parking.html"]
    assert "Oil the lathe" in rendered["lathe.pdf"]


async def test_rights_of_the_folder_hold_for_every_format(filled: KnowledgeFolder, store: RunningStore) -> None:
    filled.write("_access.yaml", "access: {groups: [workshop]}")
    await store.ingest(filled)
    assert (await store.search("When to oil the lathe?", make_identity("anna", "staff"))).hits == ()
    assert (await store.search("When to oil the lathe?", make_identity("bo", "workshop"))).hits


async def test_unchanged_files_are_not_parsed_again_and_new_rights_still_apply(
    filled: KnowledgeFolder, store: RunningStore, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await store.ingest(filled)

    def refuse(*_: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr(ConversionProcess, "convert", refuse)
    second = await store.ingest(filled)
    assert (second.unchanged, second.knowledge_version) == (3, first.knowledge_version)
    filled.write("_access.yaml", "access: {groups: [workshop]}")
    assert (await store.ingest(filled)).rights_changed == 3


async def test_changed_bytes_with_the_same_text_change_nothing(filled: KnowledgeFolder, store: RunningStore) -> None:
    first = await store.ingest(filled)
    filled.write("parking.html", PARKING + "<!-- saved again -->")
    second = await store.ingest(filled)
    assert (second.unchanged, second.knowledge_version) == (3, first.knowledge_version)


async def test_each_broken_file_is_reported_and_the_others_are_read(
    filled: KnowledgeFolder, store: RunningStore
) -> None:
    filled.write("scan.pdf", make_pdf([[], []]))
    filled.write("page.docx", b"<html>")
    filled.write("empty.html", b"")
    filled.write("deep.html", b"<div>" * 20_000)
    filled.write("slides.pptx", b"PK")
    filled.write("half.pdf", make_pdf([["A page with text about sensors."], []]))
    report = await store.ingest(filled)
    reasons = {failure.path: failure.reason for failure in report.failures}
    expected = {
        "scan.pdf": "scan",
        "page.docx": "not a DOCX",
        "empty.html": "empty",
        "deep.html": "nested too deeply",
        "slides.pptx": "unsupported format .pptx",
    }
    assert reasons.keys() == expected.keys()
    assert all(part in reasons[path] for path, part in expected.items())
    assert [remark.path for remark in report.remarks] == ["half.pdf"]
    assert report.added == 4


async def test_known_file_that_breaks_is_closed(filled: KnowledgeFolder, store: RunningStore) -> None:
    await store.ingest(filled)
    filled.write("lathe.pdf", b"%PDF-1.7 torn")
    assert (await store.ingest(filled)).closed == 1
    assert (await store.search("When to oil the lathe?")).hits == ()
    filled.write("lathe.pdf", PDF)
    await store.ingest(filled)
    assert (await store.search("When to oil the lathe?")).hits


async def test_reading_leaves_the_event_loop_free(process: ConversionProcess) -> None:
    """The loop goes on turning while a page that takes a while is parsed."""
    content = b"<p>" + b"<b>word</b> " * 20_000
    await asyncio.to_thread(process.convert, "html", b"<p>warm")
    turns = 0
    reading = asyncio.create_task(asyncio.to_thread(process.convert, "html", content))
    while not reading.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert reading.result().text.startswith("word word")
    assert turns > 5


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (ConversionLimits(processor_seconds=1), "too much memory or time"),
        (ConversionLimits(wait_seconds=3), "took more than 3 seconds"),
    ],
)
def test_file_that_eats_time_is_given_up_and_the_next_one_is_read(limits: ConversionLimits, reason: str) -> None:
    process = ConversionProcess(limits)
    try:
        with pytest.raises(UnreadableFileError, match=reason):
            process.convert("html", b"<div>" * 600_000)
        assert process.convert("html", b"<p>hello").text == "hello"
    finally:
        process.close()


def test_parser_that_dies_costs_only_its_own_file(process: ConversionProcess) -> None:
    assert process.convert("html", b"<p>hello").text == "hello"
    assert process._process is not None
    os.kill(process._process.pid or 0, signal.SIGKILL)
    process._process.join()
    assert process.convert("html", b"<p>again").text == "again"


def test_file_that_eats_memory_is_given_up_and_the_next_one_is_read() -> None:
    process = ConversionProcess(ConversionLimits(memory_bytes=300 * 1024**2))
    try:
        with pytest.raises(UnreadableFileError, match="too much memory"):
            process.convert("html", b"<p>" + b"x" * 120_000_000)
        assert process.convert("html", b"<p>hello").text == "hello"
    finally:
        process.close()


async def test_closing_does_not_wait_for_the_file_that_is_being_read() -> None:
    process = ConversionProcess()
    await asyncio.to_thread(process.convert, "html", b"<p>warm")
    reading = asyncio.create_task(asyncio.to_thread(process.convert, "html", b"<div>" * 600_000))
    await asyncio.sleep(0.2)
    async with asyncio.timeout(20):
        await asyncio.to_thread(process.close)
        with pytest.raises(UnreadableFileError):
            await reading
