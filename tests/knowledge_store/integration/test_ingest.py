"""An ingest makes the store hold what the folder holds, does no work twice, and says what it could not read."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from services.knowledge_store.domain.access import CLOSED, PUBLIC
from services.knowledge_store.domain.errors import (
    CollectionTakenError,
    FolderEmptiedError,
    FolderNotFoundError,
    IngestAlreadyRunningError,
)
from services.knowledge_store.domain.ingest_report import IngestProgress
from services.knowledge_store.domain.records import Vector
from tests.support.fake_embedder import FakeEmbedder
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore, run_store

pytestmark = [pytest.mark.integration, pytest.mark.p1]


async def test_second_run_embeds_nothing_and_keeps_the_version(
    folder: KnowledgeFolder, store: RunningStore, embedder: FakeEmbedder
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days")
    first = await store.ingest(folder)
    embedder.embedded.clear()
    (folder.root / "leave.md").touch()
    second = await store.ingest(folder)
    assert (second.unchanged, second.knowledge_version) == (1, first.knowledge_version)
    assert embedder.embedded == []


async def test_only_the_changed_section_is_embedded(
    folder: KnowledgeFolder, store: RunningStore, embedder: FakeEmbedder
) -> None:
    folder.write("leave.md", "# Leave\n\n## Annual\n\n28 days\n\n## Sick\n\nCall by nine")
    first = await store.ingest(folder)
    embedder.embedded.clear()
    folder.write("leave.md", "# Leave\n\n## Annual\n\n30 days\n\n## Sick\n\nCall by nine")
    second = await store.ingest(folder)
    assert embedder.embedded == ["# Leave > Annual\n30 days"]
    assert second.knowledge_version > first.knowledge_version
    assert "30 days" in (await store.search("How many days of annual leave?")).hits[0].text


async def test_moved_file_changes_its_id_and_is_not_embedded_again(
    folder: KnowledgeFolder, store: RunningStore, embedder: FakeEmbedder
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    await store.ingest(folder)
    embedder.embedded.clear()
    (folder.root / "leave.md").rename(folder.root / "annual.md")
    report = await store.ingest(folder)
    assert (report.added, report.removed, embedder.embedded) == (1, 1, [])
    assert [hit.record_id for hit in (await store.search("days of leave")).hits] == ["handbook/annual.md"]


async def test_a_folder_that_lost_everything_is_refused_unless_that_is_said(
    folder: KnowledgeFolder, store: RunningStore
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    await store.ingest(folder)
    folder.remove("leave.md")
    with pytest.raises(FolderEmptiedError, match="--allow-empty"):
        await store.ingest(folder, allow_empty=False)
    assert not (await store.status()).is_empty
    assert (await store.ingest(folder, allow_empty=True)).is_empty


async def test_store_flips_between_empty_and_not_empty(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    await store.ingest(folder)
    filled = await store.status()
    folder.remove("leave.md")
    report = await store.ingest(folder)
    emptied = await store.status()
    assert (filled.is_empty, emptied.is_empty, report.is_empty) == (False, True, True)
    assert emptied.knowledge_version > filled.knowledge_version


async def test_one_folder_leaves_another_alone(folder: KnowledgeFolder, store: RunningStore, tmp_path: Path) -> None:
    other = KnowledgeFolder(tmp_path / "wiki")
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    other.write("vpn.md", "# VPN\n\nThe VPN needs a token")
    await store.ingest(folder)
    await store.ingest(other)
    folder.remove("leave.md")
    await store.ingest(folder)
    assert (await store.search("What does the VPN need?")).hits[0].record_id == "wiki/vpn.md"


async def test_other_folder_of_the_same_name_is_refused(
    folder: KnowledgeFolder, store: RunningStore, tmp_path: Path
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    await store.ingest(folder)
    namesake = KnowledgeFolder(tmp_path / "b" / "handbook")
    namesake.write("vpn.md", "# VPN\n\nThe VPN needs a token")
    with pytest.raises(CollectionTakenError, match="another collection name"):
        await store.ingest(namesake)
    await store.ingest(namesake, collection="handbook-b")
    assert (await store.search("days of leave")).outcome == "hits"


async def test_folder_that_moved_is_the_same_collection(
    folder: KnowledgeFolder, store: RunningStore, embedder: FakeEmbedder, tmp_path: Path
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    first = await store.ingest(folder)
    embedder.embedded.clear()
    (tmp_path / "new").mkdir()
    moved = KnowledgeFolder(folder.root.rename(tmp_path / "new" / "handbook"))
    second = await store.ingest(moved)
    assert (second.unchanged, second.knowledge_version) == (1, first.knowledge_version)


async def test_every_file_that_cannot_be_read_is_reported(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("report.odt", b"PK")
    folder.write("empty.md", "")
    folder.write("only-title.md", "# Title\n")
    folder.write("latin.txt", "Straße".encode("latin-1"))
    folder.write("image.md", b"\x89PNG\x00\x00")
    folder.write("big.txt", b"x" * (10 * 1024 * 1024 + 1))
    folder.write("broken.md", "---\ntitle: [x\n---\ntext")
    folder.write("good.md", "# Good\n\ntext")
    report = await store.ingest(folder)
    reasons = {failure.path: failure.reason for failure in report.failures}
    expected = {
        "report.odt": "unsupported format .odt (Markdown, text, HTML, PDF and DOCX can be read)",
        "empty.md": "empty",
        "only-title.md": "empty",
        "latin.txt": "UTF-8",
        "image.md": "binary",
        "big.txt": "too large",
        "broken.md": "broken YAML",
    }
    assert reasons.keys() == expected.keys()
    assert all(part in reasons[path] for path, part in expected.items())
    assert (report.added, report.without_access) == (1, 1)


async def test_files_without_rights_stay_closed_until_somebody_opens_them(
    folder: KnowledgeFolder, store: RunningStore
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    private = await store.ingest(folder, default_access=CLOSED)
    again = await store.ingest(folder)
    assert (private.default_access, private.is_default_kept) == (CLOSED, False)
    assert (again.default_access, again.is_default_kept, again.unchanged) == (CLOSED, True, 1)
    assert (await store.search("days of leave")).hits == ()
    opened = await store.ingest(folder, default_access=PUBLIC)
    assert (opened.default_access, opened.rights_changed) == (PUBLIC, 1)
    assert (await store.search("days of leave")).outcome == "hits"


async def test_progress_counts_files_and_embedded_chunks(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("a.md", "# A\n\none")
    folder.write("b.md", "# B\n\n## X\n\ntwo\n\n## Y\n\nthree")
    await store.ingest(folder)
    after_files = {progress.path: progress for progress in store.progress}
    assert list(after_files.values()) == [IngestProgress(1, 2, 1, "a.md"), IngestProgress(2, 2, 3, "b.md")]


async def test_progress_moves_inside_a_long_document(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("long.md", "\n\n".join(f"# Part {n}\n\nText {n}" for n in range(40)))
    await store.ingest(folder)
    assert [progress.chunks_embedded for progress in store.progress] == [16, 32, 40, 40]
    assert [progress.files_done for progress in store.progress] == [0, 0, 0, 1]


async def test_folder_that_is_not_there_removes_nothing(
    folder: KnowledgeFolder, store: RunningStore, tmp_path: Path
) -> None:
    folder.write("leave.md", "# Leave\n\n28 days of leave")
    await store.ingest(folder)
    folder.root.rename(tmp_path / "away")
    with pytest.raises(FolderNotFoundError):
        await store.ingest(folder)
    assert (await store.search("days of leave")).outcome == "hits"


class StalledEmbedder(FakeEmbedder):
    """Stops at the document about salaries, as an ingest that is about to be killed."""

    def __init__(self) -> None:
        super().__init__()
        self.stalled = asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if any("salary" in text for text in texts):
            self.stalled.set()
            await asyncio.Event().wait()
        return await super().embed_passages(texts)


async def test_killed_ingest_loses_nothing_and_the_next_one_goes_on(
    folder: KnowledgeFolder, fresh_database_url: str, store: RunningStore, embedder: FakeEmbedder
) -> None:
    folder.write("a.md", "# A\n\nparking spaces")
    folder.write("b.md", "# B\n\nsalary bands")
    stalled = StalledEmbedder()
    async with run_store(fresh_database_url, stalled) as doomed:
        running = asyncio.create_task(doomed.ingest(folder))
        async with asyncio.timeout(10):
            await stalled.stalled.wait()
        assert (await store.search("parking spaces")).outcome == "hits"
        with pytest.raises(IngestAlreadyRunningError):
            await store.ingest(folder)
        running.cancel()
        await asyncio.wait([running], timeout=10)
    report = await store.ingest(folder)
    assert (report.unchanged, report.added) == (1, 1)
    assert embedder.embedded == ["# B\nsalary bands"]


async def test_failed_embedding_is_an_error_and_the_lock_is_free_again(
    folder: KnowledgeFolder, store: RunningStore, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(texts: list[str]) -> list[Vector]:
        raise OSError("no model")

    folder.write("a.md", "# A\n\nparking spaces")
    with monkeypatch.context() as patch:
        patch.setattr(embedder, "embed_passages", fail)
        with pytest.raises(OSError, match="no model"):
            await store.ingest(folder)
    assert (await store.ingest(folder)).added == 1
