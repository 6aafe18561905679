"""Formats: one reader per kind of file, found by suffix. A further format is one more entry in the registry."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from services.knowledge_store.adapters.access_settings import split_front_matter
from services.knowledge_store.adapters.text_decoding import decode_text
from services.knowledge_store.domain.access import AccessSettings
from services.knowledge_store.domain.chunking import chunk_markdown, chunk_plain_text
from services.knowledge_store.domain.errors import UnreadableFileError
from services.knowledge_store.domain.markdown_blocks import first_heading


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A file as read: its own settings, its text without front matter, and that text in chunks."""

    title: str
    media_type: str
    text: str
    chunks: tuple[str, ...]
    settings: AccessSettings


class DocumentReader(Protocol):
    """Raises `UnreadableFileError` for content that cannot be read."""

    def read(self, name: str, content: bytes) -> ReadDocument: ...


class MarkdownReader:
    def read(self, name: str, content: bytes) -> ReadDocument:
        settings, text = split_front_matter(decode_text(content))
        title = settings.title or first_heading(text) or PurePath(name).stem
        return _document(title, "text/markdown", text, chunk_markdown(title, text), settings)


class PlainTextReader:
    def read(self, name: str, content: bytes) -> ReadDocument:
        settings, text = split_front_matter(decode_text(content))
        title = settings.title or PurePath(name).stem
        return _document(title, "text/plain", text, chunk_plain_text(title, text), settings)


def make_readers() -> dict[str, DocumentReader]:
    """Readers by lower-case suffix."""
    markdown, plain_text = MarkdownReader(), PlainTextReader()
    return {".md": markdown, ".markdown": markdown, ".txt": plain_text, ".text": plain_text}


def find_reader(readers: dict[str, DocumentReader], name: str) -> DocumentReader:
    suffix = PurePath(name).suffix.lower()
    reader = readers.get(suffix)
    if reader is None:
        kind = f"format {suffix}" if suffix else "file without a suffix"
        raise UnreadableFileError(f"unsupported {kind} (Markdown and text can be read today)")
    return reader


def _document(title: str, media_type: str, text: str, chunks: list[str], settings: AccessSettings) -> ReadDocument:
    if not chunks:
        raise UnreadableFileError("the file is empty")
    return ReadDocument(title, media_type, text.strip(), tuple(chunks), settings)
