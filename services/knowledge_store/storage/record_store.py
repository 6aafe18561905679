"""Records and chunks: written by the ingest, read by `/v1/record`. The caller owns the transaction."""

from collections.abc import Collection, Sequence
from dataclasses import asdict

from sqlalchemy import Row, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import REGCONFIG, distinct_on
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.expression import bindparam, cast

from services.knowledge_store.domain.language import TEXT_SEARCH_CONFIGURATION
from services.knowledge_store.domain.records import Chunk, Coordinates, Record, Source, StoredRecord, Vector
from services.knowledge_store.storage.tables import chunk, collection, document
from services.knowledge_store.storage.word_statistics import (
    add_to_statistics,
    forget_unused_lexemes,
    take_from_statistics,
)

_COORDINATE_COLUMNS = tuple(document.c[name] for name in Coordinates.__dataclass_fields__)


class RecordStore:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def find_source(self, collection_id: str) -> Source | None:
        """Where a collection was last read from and how, or None for a new collection."""
        columns = (collection.c.root, collection.c.default_is_public)
        row = (
            await self._connection.execute(select(*columns).where(collection.c.collection == collection_id))
        ).one_or_none()
        return Source(**row._mapping) if row is not None else None

    async def set_source(self, collection_id: str, source: Source) -> None:
        values = asdict(source)
        statement = upsert(collection).values(collection=collection_id, **values)
        await self._connection.execute(statement.on_conflict_do_update(index_elements=["collection"], set_=values))

    async def load_stored(self, collection_id: str) -> dict[str, StoredRecord]:
        rows = await self._connection.execute(
            select(document.c.record_id, document.c.content_hash, document.c.source_hash, *_COORDINATE_COLUMNS).where(
                document.c.collection == collection_id
            )
        )
        return {
            row.record_id: StoredRecord(row.record_id, row.content_hash, _coordinates(row), row.source_hash)
            for row in rows
        }

    async def find_embeddings(self, content_hashes: Collection[str]) -> dict[str, Vector]:
        """Embeddings of chunks with this very text, wherever they stand: a moved file is not embedded again."""
        rows = await self._connection.execute(
            select(chunk.c.content_hash, chunk.c.embedding)
            .where(chunk.c.content_hash.in_(content_hashes))
            .ext(distinct_on(chunk.c.content_hash))
        )
        return {row.content_hash: tuple(float(x) for x in row.embedding) for row in rows}

    async def replace(self, record: Record, chunks: Sequence[Chunk]) -> None:
        """Write the record with exactly these chunks."""
        values = {
            "record_id": record.record_id,
            "collection": record.collection,
            "media_type": record.media_type,
            "text": record.text,
            "content_hash": record.content_hash,
            "source_hash": record.source_hash,
            "updated_at": record.updated_at,
            **_coordinate_values(record.coordinates),
        }
        statement = upsert(document).values(values)
        document_id = await self._connection.scalar(
            statement.on_conflict_do_update(index_elements=["record_id"], set_=values).returning(document.c.document_id)
        )
        assert document_id is not None
        await take_from_statistics(self._connection, [document_id])
        await self._connection.execute(delete(chunk).where(chunk.c.document_id == document_id))
        await self._insert_chunks(document_id, chunks)
        await add_to_statistics(self._connection, [document_id])

    async def _insert_chunks(self, document_id: int, chunks: Sequence[Chunk]) -> None:
        search_vector = func.to_tsvector(cast(bindparam("configuration"), REGCONFIG), bindparam("index_text"))
        await self._connection.execute(
            insert(chunk).values(search_vector=search_vector),
            [
                {
                    "chunk_id": part.chunk_id,
                    "document_id": document_id,
                    "ordinal": part.ordinal,
                    "text": part.text,
                    "language": part.language,
                    "length": len(part.words),
                    "content_hash": part.content_hash,
                    "embedding": list(part.embedding),
                    "configuration": TEXT_SEARCH_CONFIGURATION[part.language],
                    "index_text": " ".join(part.words),
                }
                for part in chunks
            ],
        )

    async def change_coordinates(self, record_id: str, coordinates: Coordinates) -> None:
        await self._connection.execute(
            update(document).where(document.c.record_id == record_id).values(_coordinate_values(coordinates))
        )

    async def note_source_hash(self, record_id: str, source_hash: str | None) -> None:
        """Other bytes that gave the very same text: no change of content."""
        await self._connection.execute(
            update(document).where(document.c.record_id == record_id).values(source_hash=source_hash)
        )

    async def remove(self, record_ids: Collection[str]) -> None:
        ids = (
            await self._connection.scalars(select(document.c.document_id).where(document.c.record_id.in_(record_ids)))
        ).all()
        await take_from_statistics(self._connection, ids)
        await forget_unused_lexemes(self._connection)
        await self._connection.execute(delete(document).where(document.c.document_id.in_(ids)))

    async def load_readable(self, record_id: str, principals: Sequence[str]) -> Record | None:
        """The record if one of the principals may read it, else None."""
        readable = or_(document.c.is_public, document.c.readers.overlap(list(principals)))
        row = (
            await self._connection.execute(select(document).where(document.c.record_id == record_id, readable))
        ).one_or_none()
        if row is None:
            return None
        return Record(
            record_id=row.record_id,
            collection=row.collection,
            media_type=row.media_type,
            text=row.text,
            content_hash=row.content_hash,
            updated_at=row.updated_at,
            coordinates=_coordinates(row),
        )


def _coordinates(row: Row[tuple[object, ...]]) -> Coordinates:
    return Coordinates(
        title=row.title,
        url=row.url,
        source_system=row.source_system,
        author_principal_id=row.author_principal_id,
        contact=row.contact,
        hint=row.hint,
        is_public=row.is_public,
        readers=tuple(row.readers),
    )


def _coordinate_values(coordinates: Coordinates) -> dict[str, object]:
    return asdict(coordinates) | {"readers": list(coordinates.readers)}
