"""What an ingest tells while it runs and when it is done."""

from dataclasses import dataclass

from services.knowledge_store.domain.access import Access


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A file (or a whole folder) that could not be read, and why. `path` is relative to the ingested folder."""

    path: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """After each file, and inside long ones. `chunks_embedded` counts the costly work: texts not known before."""

    files_done: int
    files_total: int
    chunks_embedded: int
    path: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Counts are files. `closed`: known before, now readable by nobody, because they or their rights cannot be read.

    `without_access`: files for which no rights are declared anywhere, which `default_access` made readable (or not);
    `is_default_kept`: an earlier ingest of this collection chose that, and this one did not say. `remarks`: files that
    were read, but not all of them.
    """

    collection: str
    added: int
    updated: int
    rights_changed: int
    unchanged: int
    removed: int
    closed: int
    chunks_embedded: int
    without_access: int
    default_access: Access
    is_default_kept: bool
    failures: tuple[FileFailure, ...]
    remarks: tuple[FileFailure, ...]
    knowledge_version: int
    is_empty: bool
