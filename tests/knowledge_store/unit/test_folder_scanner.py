"""What of a folder is read, under which rights, and what is reported instead."""

import os
from pathlib import Path

import pytest

from services.knowledge_store.adapters.folder_scanner import scan_folder
from services.knowledge_store.domain.access import Access
from tests.support.knowledge_folder import KnowledgeFolder

pytestmark = [pytest.mark.unit, pytest.mark.p0]


@pytest.fixture
def folder(tmp_path: Path) -> KnowledgeFolder:
    return KnowledgeFolder(tmp_path / "handbook")


def inherited_access(folder: KnowledgeFolder) -> dict[str, Access | None]:
    """The access that each file inherits; files under a broken declaration are left out."""
    files = scan_folder(folder.root).files
    return {found.relative_path: found.inherited.access for found in files if found.inherited is not None}


def test_nearest_access_file_wins_as_a_whole(folder: KnowledgeFolder) -> None:
    folder.write("_access.yaml", "access: {groups: [all]}\nauthor: root")
    folder.write("hr/_access.yaml", "author: hana")
    folder.write("a.md", "a")
    folder.write("hr/b.md", "b")
    folder.write("it/deep/c.md", "c")
    everybody = Access(groups=("all",))
    assert inherited_access(folder) == {"a.md": everybody, "hr/b.md": None, "it/deep/c.md": everybody}


def test_broken_access_file_closes_everything_under_it(folder: KnowledgeFolder) -> None:
    folder.write("_access.yaml", "access: {public: true}")
    folder.write("hr/_access.yaml", "access: {groups: [hr")
    folder.write("hr/deep/pay.md", "pay")
    folder.write("hr/open/_access.yaml", "access: {public: true}")
    folder.write("hr/open/news.md", "news")
    scan = scan_folder(folder.root)
    assert inherited_access(folder) == {"hr/open/news.md": Access(is_public=True)}
    assert [failure.path for failure in scan.failures] == ["hr/_access.yaml"]


def test_access_file_that_is_a_link_or_a_folder_closes(folder: KnowledgeFolder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text("access: {public: true}")
    folder.write("a/secret.md", "x")
    (folder.root / "a/_access.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    folder.write("b/_access.yaml/x", "x")
    folder.write("b/secret.md", "x")
    assert inherited_access(folder) == {}


def test_links_are_reported_and_not_followed(folder: KnowledgeFolder, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    folder.write("hr/pay.md", "pay")
    (folder.root / "out.md").symlink_to(tmp_path / "secret.md")
    (folder.root / "inside.md").symlink_to(folder.root / "hr/pay.md")
    (folder.root / "loop").symlink_to(folder.root)
    scan = scan_folder(folder.root)
    assert [found.relative_path for found in scan.files] == ["hr/pay.md"]
    reasons = {failure.path: failure.reason for failure in scan.failures}
    assert set(reasons) == {"out.md", "inside.md", "loop"}
    assert "out of the folder" in reasons["out.md"]


def test_hidden_files_are_skipped_silently(folder: KnowledgeFolder) -> None:
    folder.write(".git/config", "x")
    folder.write(".notes.md", "x")
    scan = scan_folder(folder.root)
    assert (scan.files, scan.failures) == ([], [])


def test_file_name_that_is_no_text_is_reported(folder: KnowledgeFolder) -> None:
    for name in (b"caf\xe9.md", b"line\nbreak.md"):
        Path(os.fsdecode(os.fsencode(folder.root) + b"/" + name)).write_text("x")
    folder.write("naïve\u00a0名.md", "x")
    scan = scan_folder(folder.root)
    assert [found.relative_path for found in scan.files] == ["naïve\u00a0名.md"]
    assert [failure.path for failure in scan.failures] == ["caf\ufffd.md", "line\nbreak.md"]
