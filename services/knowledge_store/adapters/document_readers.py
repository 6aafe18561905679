"""Formats: one reader per kind of file, found by suffix. A further format is one more entry in the registry."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, Protocol

from services.knowledge_store.adapters.access_settings import split_front_matter
from services.knowledge_store.adapters.documents.conversion import ConversionProcess
from services.knowledge_store.adapters.text_decoding import decode_text
from services.knowledge_store.domain.access import AccessSettings
from services.knowledge_store.domain.chunking import chunk_markdown, chunk_plain_text
from services.knowledge_store.domain.errors import UnreadableFileError
from services.knowledge_store.domain.markdown_blocks import first_heading

READABLE = "Markdown, text, HTML, PDF and DOCX"
MAX_TEXT_BYTES = 10 * 1024 * 1024
MAX_PARSED_BYTES = 50 * 1024 * 1024
MAX_TITLE = 200


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A file as read: its own settings, its text without front matter, and that text in chunks.

    `media_type` is that of `text`. `remark` says what of the file could not be read, if anything.
    """

    title: str
    media_type: str
    text: str
    chunks: tuple[str, ...]
    settings: AccessSettings
    remark: str = ""


class DocumentReader(Protocol):
    """`max_bytes`: larger files are not even opened. `is_costly`: an unchanged file is better not read again.

    Raises `UnreadableFileError` for content that cannot be read.
    """

    @property
    def max_bytes(self) -> int: ...

    @property
    def is_costly(self) -> bool: ...

    def read(self, name: str, content: bytes) -> ReadDocument: ...


class MarkdownReader:
    max_bytes = MAX_TEXT_BYTES
    is_costly = False

    def read(self, name: str, content: bytes) -> ReadDocument:
        settings, text = split_front_matter(decode_text(content))
        title = settings.title or first_heading(text) or PurePath(name).stem
        return _document(title, "text/markdown", text, chunk_markdown(title, text), settings)


class PlainTextReader:
    max_bytes = MAX_TEXT_BYTES
    is_costly = False

    def read(self, name: str, content: bytes) -> ReadDocument:
        settings, text = split_front_matter(decode_text(content))
        title = settings.title or PurePath(name).stem
        return _document(title, "text/plain", text, chunk_plain_text(title, text), settings)


class ConvertingReader:
    """Formats that need a parser. They declare no rights of their own: those come from their folder."""

    is_costly = True

    def __init__(self, process: ConversionProcess, kind: Literal["html", "pdf", "docx"], max_bytes: int) -> None:
        self._process = process
        self._kind = kind
        self.max_bytes = max_bytes

    def read(self, name: str, content: bytes) -> ReadDocument:
        converted = self._process.convert(self._kind, content)
        # PostgreSQL and the embedding model both end a text at a NUL.
        text = converted.text.replace("\x00", "")
        is_markdown = converted.media_type == "text/markdown"
        heading = first_heading(text) if is_markdown else None
        title = converted.title.replace("\x00", "")[:MAX_TITLE] or heading or PurePath(name).stem
        chunks = chunk_markdown(title, text) if is_markdown else chunk_plain_text(title, text)
        return _document(title, converted.media_type, text, chunks, AccessSettings(), converted.remark)


def make_readers(process: ConversionProcess) -> dict[str, DocumentReader]:
    """Readers by lower-case suffix."""
    markdown, plain_text = MarkdownReader(), PlainTextReader()
    html = ConvertingReader(process, "html", MAX_TEXT_BYTES)
    return {
        ".md": markdown,
        ".markdown": markdown,
        ".txt": plain_text,
        ".text": plain_text,
        ".html": html,
        ".htm": html,
        ".xhtml": html,
        ".pdf": ConvertingReader(process, "pdf", MAX_PARSED_BYTES),
        ".docx": ConvertingReader(process, "docx", MAX_PARSED_BYTES),
    }


def find_reader(readers: dict[str, DocumentReader], name: str) -> DocumentReader:
    suffix = PurePath(name).suffix.lower()
    reader = readers.get(suffix)
    if reader is None:
        kind = f"format {suffix}" if suffix else "file without a suffix"
        raise UnreadableFileError(f"unsupported {kind} ({READABLE} can be read)")
    return reader


def _document(
    title: str, media_type: str, text: str, chunks: list[str], settings: AccessSettings, remark: str = ""
) -> ReadDocument:
    if not chunks:
        raise UnreadableFileError("the file is empty")
    return ReadDocument(title, media_type, text.strip(), tuple(chunks), settings, remark)
