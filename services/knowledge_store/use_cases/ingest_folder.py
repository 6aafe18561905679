"""Read a folder into the store: incremental, resumable, and closed wherever rights cannot be understood."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.adapters.document_readers import DocumentReader
from services.knowledge_store.adapters.file_reader import FileContent, read_file
from services.knowledge_store.adapters.folder_scanner import FolderScan, FoundFile, scan_folder
from services.knowledge_store.domain.access import CLOSED, PUBLIC, Access
from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.domain.errors import (
    CollectionTakenError,
    FolderEmptiedError,
    FolderNotFoundError,
    InvalidCollectionError,
    UnreadableFileError,
)
from services.knowledge_store.domain.indexing import make_record_id, name_version
from services.knowledge_store.domain.ingest_report import FileFailure, IngestProgress, IngestReport
from services.knowledge_store.domain.records import Source, StoredRecord
from services.knowledge_store.storage.ingest_lock import hold_ingest_lock
from services.knowledge_store.storage.record_store import RecordStore
from services.knowledge_store.storage.state_store import StateStore
from services.knowledge_store.use_cases.index_document import Collection, DocumentIndexer, IngestTally, KnownVectors

ProgressListener = Callable[[IngestProgress], None]


@dataclass(slots=True)
class _Progress:
    listener: ProgressListener
    tally: IngestTally
    total: int
    done: int = 0
    path: str = ""

    def tell(self) -> None:
        self.listener(IngestProgress(self.done, self.total, self.tally.chunks_embedded, self.path))


class IngestService:
    """Commits document by document: a kill in the middle loses nothing, and the next run goes on from there."""

    def __init__(
        self, engine: AsyncEngine, embedder: Embedder, readers: dict[str, DocumentReader], source_url_prefix: str
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._readers = readers
        self._source_url_prefix = source_url_prefix

    async def ingest(
        self,
        folder: Path,
        on_progress: ProgressListener,
        *,
        collection: str | None = None,
        default_access: Access | None = None,
        allow_empty: bool = False,
        known_vectors: KnownVectors | None = None,
    ) -> IngestReport:
        """Make the collection (by default named after the folder) hold exactly what the folder holds.

        `default_access` rules files for which no rights are declared anywhere. None keeps what an earlier ingest of the
        collection chose; a new one is readable by everybody, because a newcomer drops in a folder of their own
        documents. A wrong declaration, in contrast, always closes.
        Without `allow_empty` a known folder that holds nothing any more is refused: a disk may just not be there.
        Raises `IngestError` if the ingest as a whole cannot run; files that cannot be read are in the report.
        """
        root = await asyncio.to_thread(_resolve_folder, folder)
        name = _collection_name(collection or root.name)
        async with hold_ingest_lock(self._engine):
            default_access, is_kept = await self._open_collection(name, root, default_access)
            stored = await self._load_stored(name)
            scan = await asyncio.to_thread(scan_folder, root)
            if stored and not scan.files and not scan.closed_folders and not allow_empty:
                raise FolderEmptiedError(str(root), len(stored))
            tally = IngestTally(failures=list(scan.failures))
            progress = _Progress(on_progress, tally, len(scan.files))
            indexer = DocumentIndexer(
                self._engine,
                self._embedder,
                tally,
                Collection(name, default_access, self._source_url_prefix),
                on_step=progress.tell,
                known_vectors=known_vectors,
            )
            await self._ingest_files(scan, stored, indexer, progress)
            await self._settle_missing(scan, stored, indexer)
            return await self._report(indexer, default_access, is_default_kept=is_kept)

    async def _open_collection(self, name: str, root: Path, wanted: Access | None) -> tuple[Access, bool]:
        """Who may read what has no declared rights, and whether that was kept from an earlier ingest."""
        async with self._engine.begin() as connection:
            store = RecordStore(connection)
            known = await store.find_source(name)
            if known is not None and known.root != str(root) and await asyncio.to_thread(Path(known.root).is_dir):
                raise CollectionTakenError(name, known.root, str(root))
            default_access, is_kept = _default_access(wanted, known)
            await store.set_source(name, Source(str(root), default_access.is_public))
        return default_access, is_kept

    async def _load_stored(self, name: str) -> dict[str, StoredRecord]:
        async with self._engine.connect() as connection:
            return await RecordStore(connection).load_stored(name)

    async def _ingest_files(
        self,
        scan: FolderScan,
        stored: dict[str, StoredRecord],
        indexer: DocumentIndexer,
        progress: _Progress,
    ) -> None:
        for found in scan.files:
            progress.path = found.relative_path
            known = stored.get(make_record_id(indexer.collection, found.relative_path))
            content = await self._read(found, known, indexer.tally)
            if content is None or found.inherited is None:
                await indexer.close(known)
            else:
                await indexer.index(found, content, known)
            progress.done += 1
            progress.tell()

    async def _read(self, found: FoundFile, known: StoredRecord | None, tally: IngestTally) -> FileContent | None:
        known_hash = known.source_hash if known is not None else None
        version = name_version(self._embedder.model_id)
        try:
            return await asyncio.to_thread(read_file, found, self._readers, version=version, known_hash=known_hash)
        except UnreadableFileError as error:
            tally.failures.append(FileFailure(found.relative_path, error.reason, error.line))
            return None

    async def _settle_missing(
        self, scan: FolderScan, stored: dict[str, StoredRecord], indexer: DocumentIndexer
    ) -> None:
        """Remove what is gone; what lies in a folder that could not be listed may still be there, and is closed."""
        name = indexer.collection
        seen = {make_record_id(name, found.relative_path) for found in scan.files}
        hidden_folders = tuple(
            f"{name}/" if folder == "." else make_record_id(name, f"{folder}/") for folder in scan.closed_folders
        )
        missing = [record for record_id, record in stored.items() if record_id not in seen]
        for record in missing:
            if record.record_id.startswith(hidden_folders):
                await indexer.close(record)
        await indexer.remove([r.record_id for r in missing if not r.record_id.startswith(hidden_folders)])

    async def _report(self, indexer: DocumentIndexer, default_access: Access, *, is_default_kept: bool) -> IngestReport:
        async with self._engine.connect() as connection:
            state = await StateStore(connection).load()
        tally = indexer.tally
        return IngestReport(
            collection=indexer.collection,
            added=tally.added,
            updated=tally.updated,
            rights_changed=tally.rights_changed,
            unchanged=tally.unchanged,
            removed=tally.removed,
            closed=tally.closed,
            chunks_embedded=tally.chunks_embedded,
            without_access=tally.without_access,
            default_access=default_access,
            is_default_kept=is_default_kept,
            failures=tuple(sorted(tally.failures, key=lambda failure: failure.path)),
            remarks=tuple(sorted(tally.remarks, key=lambda remark: remark.path)),
            knowledge_version=state.knowledge_version,
            is_empty=state.is_empty,
        )


def _default_access(wanted: Access | None, known: Source | None) -> tuple[Access, bool]:
    if wanted is not None:
        return wanted, False
    if known is None or known.default_is_public is None:
        return PUBLIC, False
    return (PUBLIC if known.default_is_public else CLOSED), True


def _resolve_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise FolderNotFoundError(str(folder))
    return folder.resolve()


def _collection_name(name: str) -> str:
    if not name or name.startswith(".") or "/" in name or "#" in name or not name.isprintable():
        raise InvalidCollectionError(name)
    return name
