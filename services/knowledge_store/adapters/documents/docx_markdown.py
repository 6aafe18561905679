"""DOCX to Markdown, by way of HTML."""

import zipfile
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

import mammoth

from services.knowledge_store.adapters.documents.converted import ConvertedDocument
from services.knowledge_store.adapters.documents.docx_archive import core_title, open_docx, without_hidden_text
from services.knowledge_store.adapters.documents.html_markdown import markdown_of
from services.knowledge_store.domain.errors import UnreadableFileError

_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
# What word processors write there by themselves.
_NO_TITLE = ("untitled", "document", "document1", "microsoft word", "word document")


def convert_docx(content: bytes) -> ConvertedDocument:
    """Raises `UnreadableFileError`."""
    with open_docx(content) as archive:
        try:
            title = core_title(archive)
            html = mammoth.convert_to_html(
                without_hidden_text(archive), style_map=_STYLES, convert_image=lambda _image: []
            ).value
        except (ExpatError, ElementTree.ParseError, zipfile.BadZipFile, KeyError, OSError, EOFError) as error:
            raise UnreadableFileError("the document is damaged: a part of it is missing or is no XML") from error
    converted = markdown_of(f"<html><body>{html}</body></html>")
    has_title = title and title.lower() not in _NO_TITLE
    return ConvertedDocument(title if has_title else converted.title, converted.text, "text/markdown")
