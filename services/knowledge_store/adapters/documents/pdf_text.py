"""PDF to plain text."""

import re
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from services.knowledge_store.adapters.documents.converted import ConvertedDocument
from services.knowledge_store.adapters.documents.pdf_lines import join_pages
from services.knowledge_store.domain.errors import UnreadableFileError

_MAX_PAGES = 3_000
_MAGIC_WITHIN = 1_024
_DAMAGED = "the PDF is damaged and cannot be read"
# What printing to PDF writes there by itself: a file name, or the program's.
_NO_TITLE = re.compile(r"untitled|microsoft word|.*\.(?:docx?|odt|indd|pptx?|xlsx?|rtf|tex|pdf)\Z", re.IGNORECASE)


def convert_pdf(content: bytes) -> ConvertedDocument:
    """Raises `UnreadableFileError`."""
    if b"%PDF-" not in content[:_MAGIC_WITHIN]:
        raise UnreadableFileError("this is not a PDF file, although its name ends in .pdf")
    try:
        reader = _open(content)
        pages = [page.extract_text().splitlines() for page in reader.pages]
        title = _title_of(reader)
    except UnreadableFileError:
        raise
    except (PyPdfError, DependencyError, ValueError, TypeError, KeyError, IndexError, AttributeError, OSError) as error:
        # The parser meets broken files with whatever its code stumbles over.
        raise UnreadableFileError(_DAMAGED) from error
    silent = [number for number, lines in enumerate(pages, start=1) if not any(line.strip() for line in lines)]
    if len(silent) == len(pages):
        raise UnreadableFileError("there is no text in this PDF (a scan?); run text recognition over it first")
    return ConvertedDocument(title, join_pages(pages), "text/plain", _remark(silent))


def _open(content: bytes) -> PdfReader:
    reader = PdfReader(BytesIO(content))
    # An empty password opens what is only protected against changes.
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableFileError("the PDF needs a password; save it without one")
    if len(reader.pages) > _MAX_PAGES:
        raise UnreadableFileError(f"the PDF has more than {_MAX_PAGES} pages; split it into smaller ones")
    return reader


def _title_of(reader: PdfReader) -> str:
    title = reader.metadata.title if reader.metadata is not None else None
    title = " ".join((title or "").split())
    return "" if _NO_TITLE.match(title) else title


def _remark(silent: list[int]) -> str:
    if not silent:
        return ""
    shown = ", ".join(str(number) for number in silent[:5]) + (" …" if len(silent) > 5 else "")
    return f"no text on page {shown} (pictures or a scan?); the rest was read"
