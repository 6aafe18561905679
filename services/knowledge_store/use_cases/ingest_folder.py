"""Read a folder into the store: incremental, resumable, and closed wherever rights cannot be understood."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.adapters.document_readers import DocumentReader
from services.knowledge_store.adapters.file_reader import FileContent, read_file
from services.knowledge_store.adapters.folder_scanner import FolderScan, FoundFile, scan_folder
from services.knowledge_store.domain.access import PUBLIC, Access
from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.domain.errors import (
    CollectionTakenError,
    FolderEmptiedError,
    FolderNotFoundError,
    InvalidCollectionError,
    UnreadableFileError,
)
from services.knowledge_store.domain.indexing import make_record_id
from services.knowledge_store.domain.ingest_report import FileFailure, IngestProgress, IngestReport
from services.knowledge_store.domain.records import StoredRecord
from services.knowledge_store.storage.ingest_lock import hold_ingest_lock
from services.knowledge_store.storage.record_store import RecordStore
from services.knowledge_store.storage.state_store import StateStore
from services.knowledge_store.use_cases.index_document import DocumentIndexer, IngestTally

ProgressListener = Callable[[IngestProgress], None]


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """`default_access` rules files for which no rights are declared anywhere: by default everybody may read them,
    because a newcomer drops in a folder of their own documents. A wrong declaration, in contrast, always closes."""

    source_url_prefix: str = "/sources/"
    default_access: Access = PUBLIC


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
        self, engine: AsyncEngine, embedder: Embedder, readers: dict[str, DocumentReader], options: IngestOptions
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._readers = readers
        self._options = options

    async def ingest(
        self,
        folder: Path,
        on_progress: ProgressListener,
        *,
        collection: str | None = None,
        allow_empty: bool = False,
    ) -> IngestReport:
        """Make the collection (by default named after the folder) hold exactly what the folder holds.

        Without `allow_empty` a known folder that holds nothing any more is refused: a disk may just not be there.
        Raises `IngestError` if the ingest as a whole cannot run; files that cannot be read are in the report.
        """
        root = await asyncio.to_thread(_resolve_folder, folder)
        name = _collection_name(collection or root.name)
        async with hold_ingest_lock(self._engine):
            stored = await self._open_collection(name, root)
            scan = await asyncio.to_thread(scan_folder, root)
            if stored and not scan.files and not scan.closed_folders and not allow_empty:
                raise FolderEmptiedError(str(root), len(stored))
            tally = IngestTally(failures=list(scan.failures))
            progress = _Progress(on_progress, tally, len(scan.files))
            indexer = DocumentIndexer(
                self._engine,
                self._embedder,
                tally,
                collection=name,
                default_access=self._options.default_access,
                url_prefix=self._options.source_url_prefix,
                on_step=progress.tell,
            )
            await self._ingest_files(scan, stored, indexer, progress)
            await self._settle_missing(scan, stored, indexer)
            return await self._report(indexer)

    async def _open_collection(self, name: str, root: Path) -> dict[str, StoredRecord]:
        async with self._engine.begin() as connection:
            store = RecordStore(connection)
            known_root = await store.root_of(name)
            if known_root not in (None, str(root)) and await asyncio.to_thread(Path(known_root or "").is_dir):
                raise CollectionTakenError(name, known_root or "", str(root))
            await store.set_root(name, str(root))
            return await store.load_stored(name)

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
            content = await self._read(found, indexer.tally)
            if content is None or found.inherited is None:
                await indexer.close(known)
            else:
                await indexer.index(found, content, known)
            progress.done += 1
            progress.tell()

    async def _read(self, found: FoundFile, tally: IngestTally) -> FileContent | None:
        try:
            return await asyncio.to_thread(read_file, found, self._readers)
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

    async def _report(self, indexer: DocumentIndexer) -> IngestReport:
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
            default_access=self._options.default_access,
            failures=tuple(sorted(tally.failures, key=lambda failure: failure.path)),
            knowledge_version=state.knowledge_version,
            is_empty=state.is_empty,
        )


def _resolve_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise FolderNotFoundError(str(folder))
    return folder.resolve()


def _collection_name(name: str) -> str:
    if not name or name.startswith(".") or "/" in name or "#" in name or not name.isprintable():
        raise InvalidCollectionError(name)
    return name
