"""Bring one document of an ingest up to date, in one transaction that also moves the version."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.adapters.file_reader import FileContent
from services.knowledge_store.adapters.folder_scanner import FoundFile
from services.knowledge_store.domain.access import Access, AccessSettings
from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.domain.indexing import (
    close,
    hash_chunk,
    hash_document,
    make_chunks,
    make_coordinates,
    make_record_id,
)
from services.knowledge_store.domain.ingest_report import FileFailure
from services.knowledge_store.domain.records import Chunk, Coordinates, Record, StoredRecord, Vector
from services.knowledge_store.storage.record_store import RecordStore
from services.knowledge_store.storage.state_store import StateStore

# About three seconds of work: often enough for a progress bar to move inside a long document.
CHUNKS_PER_STEP = 16


@dataclass(slots=True)
class IngestTally:
    """Counts of files, except `chunks_embedded`."""

    failures: list[FileFailure] = field(default_factory=list)
    remarks: list[FileFailure] = field(default_factory=list)
    added: int = 0
    updated: int = 0
    rights_changed: int = 0
    unchanged: int = 0
    removed: int = 0
    closed: int = 0
    chunks_embedded: int = 0
    without_access: int = 0


class KnownVectors(Protocol):
    """Embeddings by chunk hash, from elsewhere than the store."""

    def find(self, chunk_hash: str) -> Vector | None: ...


@dataclass(frozen=True, slots=True)
class Collection:
    """What is the same for all documents of an ingest. `default_access` rules those without declared rights."""

    name: str
    default_access: Access
    url_prefix: str


class DocumentIndexer:
    def __init__(
        self,
        engine: AsyncEngine,
        embedder: Embedder,
        tally: IngestTally,
        into: Collection,
        *,
        on_step: Callable[[], None],
        known_vectors: KnownVectors | None,
    ) -> None:
        """`known_vectors` are taken instead of embedding those texts."""
        self._engine = engine
        self._embedder = embedder
        self._into = into
        self._on_step = on_step
        self._known_vectors = known_vectors
        self.tally = tally

    @property
    def collection(self) -> str:
        return self._into.name

    async def index(self, found: FoundFile, content: FileContent, known: StoredRecord | None) -> None:
        """Write what differs from `known`: everything, only the rights and the like, or nothing."""
        assert found.inherited is not None
        record_id = make_record_id(self.collection, found.relative_path)
        document = content.document
        if document is None:
            assert known is not None
            await self._index_unread(found.inherited, known)
            return
        if document.remark:
            self.tally.remarks.append(FileFailure(found.relative_path, document.remark))
        settings = document.settings.over(found.inherited)
        self.tally.without_access += settings.access is None
        coordinates = self._coordinates(record_id, document.title, settings)
        hashes = [hash_chunk(text, self._embedder.model_id) for text in document.chunks]
        content_hash = hash_document(document.title, document.text, hashes)
        if known is not None and known.content_hash == content_hash:
            if known.source_hash != content.source_hash:
                async with self._engine.begin() as connection:
                    await RecordStore(connection).note_source_hash(record_id, content.source_hash)
            await self._change_coordinates(known, coordinates)
            return
        record = Record(
            record_id=record_id,
            collection=self.collection,
            media_type=document.media_type,
            text=document.text,
            content_hash=content_hash,
            updated_at=content.modified_at,
            coordinates=coordinates,
            source_hash=content.source_hash,
        )
        embeddings = await self._embed(document.chunks, hashes)
        await self._replace(record, make_chunks(record_id, document.chunks, hashes, embeddings))
        if known is None:
            self.tally.added += 1
        else:
            self.tally.updated += 1

    async def _index_unread(self, settings: AccessSettings, known: StoredRecord) -> None:
        """A file whose bytes are known: only what its folder says of it can have changed."""
        self.tally.without_access += settings.access is None
        coordinates = self._coordinates(known.record_id, known.coordinates.title, settings)
        await self._change_coordinates(known, coordinates)

    async def close(self, known: StoredRecord | None) -> None:
        """Take a record from every reader, without losing what was embedded."""
        if known is None:
            return
        self.tally.closed += 1
        if known.coordinates != close(known.coordinates):
            await self._write_coordinates(known.record_id, close(known.coordinates))

    async def remove(self, record_ids: Sequence[str]) -> None:
        if not record_ids:
            return
        async with self._engine.begin() as connection:
            await RecordStore(connection).remove(record_ids)
            await StateStore(connection).advance_version()
        self.tally.removed += len(record_ids)

    def _coordinates(self, record_id: str, title: str, settings: AccessSettings) -> Coordinates:
        return make_coordinates(
            settings,
            title=title,
            record_id=record_id,
            collection=self.collection,
            default_access=self._into.default_access,
            url_prefix=self._into.url_prefix,
        )

    async def _change_coordinates(self, known: StoredRecord, coordinates: Coordinates) -> None:
        if coordinates == known.coordinates:
            self.tally.unchanged += 1
            return
        await self._write_coordinates(known.record_id, coordinates)
        self.tally.rights_changed += 1

    async def _write_coordinates(self, record_id: str, coordinates: Coordinates) -> None:
        async with self._engine.begin() as connection:
            await RecordStore(connection).change_coordinates(record_id, coordinates)
            await StateStore(connection).advance_version()

    async def _embed(self, texts: Sequence[str], hashes: Sequence[str]) -> dict[str, Vector]:
        """Embeddings by hash; only texts that stand nowhere in the store are computed, outside any transaction."""
        async with self._engine.connect() as connection:
            embeddings = await RecordStore(connection).find_embeddings(hashes)
        embeddings = self._vectors_known_before(hashes) | embeddings
        missing = {h: text for h, text in zip(hashes, texts, strict=True) if h not in embeddings}
        for part in _slices(list(missing), CHUNKS_PER_STEP):
            vectors = await self._embedder.embed_passages([missing[content_hash] for content_hash in part])
            embeddings |= zip(part, vectors, strict=True)
            self.tally.chunks_embedded += len(part)
            self._on_step()
        return embeddings

    def _vectors_known_before(self, hashes: Sequence[str]) -> dict[str, Vector]:
        if self._known_vectors is None:
            return {}
        found = ((content_hash, self._known_vectors.find(content_hash)) for content_hash in hashes)
        return {content_hash: vector for content_hash, vector in found if vector is not None}

    async def _replace(self, record: Record, chunks: Sequence[Chunk]) -> None:
        async with self._engine.begin() as connection:
            await RecordStore(connection).replace(record, chunks)
            await StateStore(connection).advance_version()


def _slices(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))
