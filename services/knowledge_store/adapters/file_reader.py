"""One found file from disk to document; blocking, so it runs in a thread."""

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from services.knowledge_store.adapters.document_readers import DocumentReader, ReadDocument, find_reader
from services.knowledge_store.adapters.folder_scanner import FoundFile
from services.knowledge_store.domain.errors import UnreadableFileError


@dataclass(frozen=True, slots=True)
class FileContent:
    """`document` is None where the file is byte for byte the known one. `modified_at` is UTC.

    `source_hash` is None for formats that are read faster than compared.
    """

    document: ReadDocument | None
    source_hash: str | None
    modified_at: datetime


def read_file(
    found: FoundFile, readers: dict[str, DocumentReader], *, version: str, known_hash: str | None
) -> FileContent:
    """`version` names the readers and the index: another one makes every file new.

    Raises `UnreadableFileError` with a sentence for the owner of the file.
    """
    reader = find_reader(readers, found.path.name)
    try:
        stat = found.path.stat()
        if stat.st_size > reader.max_bytes:
            limit = reader.max_bytes // 1024**2
            raise UnreadableFileError(f"too large ({stat.st_size / 1024**2:.1f} MB; the limit is {limit} MB)")
        content = found.path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {error.strerror}") from error
    if not content.strip():
        raise UnreadableFileError("the file is empty")
    modified_at = datetime.fromtimestamp(stat.st_mtime, UTC)
    source_hash = sha256(version.encode() + content).hexdigest() if reader.is_costly else None
    if source_hash is not None and source_hash == known_hash:
        return FileContent(None, source_hash, modified_at)
    return FileContent(reader.read(found.path.name, content), source_hash, modified_at)
