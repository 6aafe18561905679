"""From a read document to what is stored: ids, hashes, languages, coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from urllib.parse import quote

from services.knowledge_store.domain.access import CLOSED, Access, AccessSettings
from services.knowledge_store.domain.language import detect_language
from services.knowledge_store.domain.records import Chunk, Coordinates, Vector
from services.knowledge_store.domain.words import index_words

# Raise it whenever chunking or tokenisation changes: then every document is indexed anew.
INDEX_FORMAT = "1"
# Raise it whenever a reader gets more or other text out of its files.
READER_FORMAT = "1"


def make_record_id(collection: str, relative_path: str) -> str:
    return f"{collection}/{relative_path}"


def name_version(model_id: str) -> str:
    """What turns files into an index: with another one, every file is read anew."""
    return f"{READER_FORMAT}\n{INDEX_FORMAT}\n{model_id}\n"


def hash_chunk(text: str, model_id: str) -> str:
    """Equal hashes mean equal embeddings."""
    return sha256(f"{model_id}\n{text}".encode()).hexdigest()


def hash_document(title: str, text: str, chunk_hashes: Sequence[str]) -> str:
    return sha256("\n".join([INDEX_FORMAT, title, *chunk_hashes, text]).encode()).hexdigest()


def make_chunks(
    record_id: str, texts: Sequence[str], hashes: Sequence[str], embeddings: Mapping[str, Vector]
) -> list[Chunk]:
    """`embeddings` by chunk hash. A chunk too short to tell its language takes that of the whole document."""
    document_language = detect_language("\n".join(texts))
    return [
        Chunk(
            chunk_id=f"{record_id}#{ordinal}",
            ordinal=ordinal,
            text=text,
            language=detect_language(text, fallback=document_language),
            words=tuple(index_words(text)),
            content_hash=content_hash,
            embedding=embeddings[content_hash],
        )
        for ordinal, (text, content_hash) in enumerate(zip(texts, hashes, strict=True))
    ]


def make_coordinates(
    settings: AccessSettings, *, title: str, record_id: str, collection: str, default_access: Access, url_prefix: str
) -> Coordinates:
    access = settings.access if settings.access is not None else default_access
    return Coordinates(
        title=title,
        url=settings.url or url_prefix + quote(record_id),
        source_system=settings.source_system or collection,
        author_principal_id=settings.author,
        contact=settings.contact,
        hint=settings.hint if settings.hint is not None else True,
        is_public=access.is_public,
        readers=access.readers,
    )


def close(coordinates: Coordinates) -> Coordinates:
    """The same record, readable by nobody and not hinted at."""
    return replace(coordinates, is_public=CLOSED.is_public, readers=CLOSED.readers, hint=False)
