"""What the store keeps: records (documents) and their chunks."""

from dataclasses import dataclass
from datetime import datetime

from services.knowledge_store.domain.language import Language

Vector = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Everything of a record but its content: rights, origin and what a hint may say."""

    title: str
    url: str
    source_system: str
    author_principal_id: str | None
    contact: str | None
    hint: bool
    is_public: bool
    readers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One document. `content_hash` covers its text and everything that decides how it is cut and embedded;
    `source_hash` the bytes of a file in a format that is costly to read."""

    record_id: str
    collection: str
    media_type: str
    text: str
    content_hash: str
    updated_at: datetime
    coordinates: Coordinates
    source_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a record, ready to be indexed: `words` are split and lowered, `embedding` is of unit length."""

    chunk_id: str
    ordinal: int
    text: str
    language: Language
    words: tuple[str, ...]
    content_hash: str
    embedding: Vector


@dataclass(frozen=True, slots=True)
class Source:
    """The folder of a collection, and who may read what has no declared rights: None where nobody has said so yet."""

    root: str
    default_is_public: bool | None


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """What an ingest compares a file with."""

    record_id: str
    content_hash: str
    coordinates: Coordinates
    source_hash: str | None


@dataclass(frozen=True, slots=True)
class StoreState:
    """The single row of state. `announced_*` are what the bus last acknowledged, or None."""

    store_id: str
    knowledge_version: int
    is_empty: bool
    announced_version: int | None
    announced_empty: bool | None
