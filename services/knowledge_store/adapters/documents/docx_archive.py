"""A DOCX as an archive: checked before anything is unpacked, and freed of hidden text."""

import io
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

from services.knowledge_store.domain.errors import UnreadableFileError

_MAX_ENTRIES = 5_000
_MAX_UNPACKED_BYTES = 200 * 1024 * 1024
# A tree in memory is some thirty times its XML.
_MAX_XML_BYTES = 20 * 1024 * 1024
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_OFF = ("0", "false", "off")
_WITH_TEXT = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")


def open_docx(content: bytes) -> zipfile.ZipFile:
    """Raises `UnreadableFileError` for what is no DOCX or would unpack to too much."""
    if content.startswith(_OLD_OFFICE):
        raise UnreadableFileError("an old Word file, or one with a password; save it as .docx without a password")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UnreadableFileError("this is not a DOCX file, or it is damaged") from error
    if "[Content_Types].xml" not in names or not any(name.startswith("word/") for name in names):
        raise UnreadableFileError("this is not a Word document, although its name ends in .docx")
    _check_sizes(archive.infolist())
    return archive


def core_title(archive: zipfile.ZipFile) -> str:
    try:
        root = ElementTree.fromstring(_read_xml(archive, "docProps/core.xml"))  # noqa: S314 (DTDs are refused)
    except (KeyError, ElementTree.ParseError):
        return ""
    return " ".join((root.findtext(f"{_DUBLIN_CORE}title") or "").split())


def without_hidden_text(archive: zipfile.ZipFile) -> io.BytesIO:
    """The same document without runs that Word does not show."""
    hidden_styles = set(_hidden_styles(archive))
    cleaned = io.BytesIO()
    with zipfile.ZipFile(cleaned, "w") as target:
        for info in archive.infolist():
            if info.filename in _WITH_TEXT:
                root = ElementTree.fromstring(_read_xml(archive, info.filename))  # noqa: S314
                _drop_hidden_runs(root, hidden_styles)
                target.writestr(info.filename, ElementTree.tostring(root))
            elif info.filename.endswith((".xml", ".rels")):
                target.writestr(info.filename, _read_xml(archive, info.filename))
    cleaned.seek(0)
    return cleaned


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    """The declared sizes are binding: unpacking stops there."""
    xml = sum(entry.file_size for entry in entries if entry.filename.endswith((".xml", ".rels")))
    if len(entries) > _MAX_ENTRIES or sum(e.file_size for e in entries) > _MAX_UNPACKED_BYTES or xml > _MAX_XML_BYTES:
        raise UnreadableFileError("the document unpacks to too much; split it into smaller ones")
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableFileError("the document is encrypted; save it without a password")


def _read_xml(archive: zipfile.ZipFile, name: str) -> bytes:
    """Raises KeyError for a part that is not there."""
    content = archive.read(name)
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise UnreadableFileError("the document declares XML entities, which no Word file does")
    return content


def _hidden_styles(archive: zipfile.ZipFile) -> Iterator[str]:
    try:
        root = ElementTree.fromstring(_read_xml(archive, "word/styles.xml"))  # noqa: S314
    except KeyError:
        return
    for style in root.iter(f"{_WORD}style"):
        if _is_hidden(style.find(f"{_WORD}rPr")):
            yield style.get(f"{_WORD}styleId", "")


def _drop_hidden_runs(root: ElementTree.Element, hidden_styles: set[str]) -> None:
    for parent in root.iter():
        for child in list(parent):
            if (child.tag == f"{_WORD}r" and _hides(child, "r", hidden_styles)) or (
                child.tag == f"{_WORD}p" and _hides(child, "p", hidden_styles)
            ):
                parent.remove(child)


def _hides(element: ElementTree.Element, kind: str, hidden_styles: set[str]) -> bool:
    properties = element.find(f"{_WORD}{kind}Pr")
    if properties is None:
        return False
    style = properties.find(f"{_WORD}{kind}Style")
    named = style is not None and style.get(f"{_WORD}val", "") in hidden_styles
    # In a paragraph the mark's own properties say nothing of its text.
    return named or (kind == "r" and _is_hidden(properties))


def _is_hidden(properties: ElementTree.Element | None) -> bool:
    if properties is None:
        return False
    marks = [properties.find(f"{_WORD}{name}") for name in ("vanish", "webHidden", "specVanish")]
    return any(mark is not None and mark.get(f"{_WORD}val", "1").lower() not in _OFF for mark in marks)
