"""One found file from disk to document; blocking, so it runs in a thread."""

from dataclasses import dataclass
from datetime import UTC, datetime

from services.knowledge_store.adapters.document_readers import DocumentReader, ReadDocument, find_reader
from services.knowledge_store.adapters.folder_scanner import FoundFile
from services.knowledge_store.domain.errors import UnreadableFileError

MAX_FILE_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileContent:
    """`modified_at` is UTC."""

    document: ReadDocument
    modified_at: datetime


def read_file(found: FoundFile, readers: dict[str, DocumentReader]) -> FileContent:
    """Raises `UnreadableFileError` with a sentence for the owner of the file."""
    reader = find_reader(readers, found.path.name)
    try:
        stat = found.path.stat()
        if stat.st_size > MAX_FILE_BYTES:
            raise UnreadableFileError(f"too large ({stat.st_size / 1024**2:.1f} MB; the limit is 10 MB)")
        content = found.path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {error.strerror}") from error
    if not content.strip():
        raise UnreadableFileError("the file is empty")
    return FileContent(reader.read(found.path.name, content), datetime.fromtimestamp(stat.st_mtime, UTC))
