"""Small DOCX and PDF files, written with the standard library alone."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_TYPES}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_TYPES}.styles+xml"/>'
    f'<Override PartName="/word/numbering.xml" ContentType="{_TYPES}.numbering+xml"/></Types>'
)
_ROOT_RELATIONSHIPS = (
    f'<Relationships xmlns="{_RELATIONSHIPS}">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>'
)
_DOCUMENT_RELATIONSHIPS = (
    f'<Relationships xmlns="{_RELATIONSHIPS}">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    f'<Relationship Id="rId2" Type="{_OFFICE}/numbering" Target="numbering.xml"/></Relationships>'
)
_NUMBERING = (
    f'<w:numbering {_W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
)
_STYLES = (
    f"<w:styles {_W}>"
    '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:type="character" w:styleId="Ghost"><w:name w:val="Ghost"/><w:rPr><w:vanish/></w:rPr></w:style>'
    "</w:styles>"
)
_STYLE_IDS = {"title": "Title", "heading1": "Heading1", "heading2": "Heading2"}


@dataclass(frozen=True)
class Part:
    """One block of a document. A table's text has a row a line and ` | ` between cells."""

    kind: Literal["title", "heading1", "heading2", "text", "bullet", "table", "hidden", "hidden style"]
    text: str


def make_docx(parts: Sequence[Part], *, title: str = "", extra: dict[str, bytes] | None = None) -> bytes:
    """`title` is that of the core properties; `extra` adds or replaces parts of the archive."""
    entries = {
        "[Content_Types].xml": _CONTENT_TYPES.encode(),
        "_rels/.rels": _ROOT_RELATIONSHIPS.encode(),
        "word/_rels/document.xml.rels": _DOCUMENT_RELATIONSHIPS.encode(),
        "word/styles.xml": _STYLES.encode(),
        "word/numbering.xml": _NUMBERING.encode(),
        "word/document.xml": f"<w:document {_W}><w:body>{''.join(map(_block, parts))}</w:body></w:document>".encode(),
    }
    if title:
        dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
        entries["docProps/core.xml"] = f"<p {dc}><dc:title>{escape(title)}</dc:title></p>".encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (entries | (extra or {})).items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _block(part: Part) -> str:
    if part.kind == "table":
        rows = "".join(f"<w:tr>{_cells(line)}</w:tr>" for line in part.text.splitlines())
        return f"<w:tbl>{rows}</w:tbl>"
    properties = ""
    if part.kind in _STYLE_IDS:
        properties = f'<w:pPr><w:pStyle w:val="{_STYLE_IDS[part.kind]}"/></w:pPr>'
    elif part.kind == "bullet":
        properties = '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    look = {"hidden": "<w:rPr><w:vanish/></w:rPr>", "hidden style": '<w:rPr><w:rStyle w:val="Ghost"/></w:rPr>'}
    return _paragraph(part.text, properties, look.get(part.kind, ""))


def _paragraph(text: str, properties: str = "", look: str = "") -> str:
    run = f'<w:r>{look}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'
    return f"<w:p>{properties}{run}</w:p>"


def _cells(line: str) -> str:
    return "".join(f"<w:tc>{_paragraph(cell.strip())}</w:tc>" for cell in line.split(" | "))


def make_pdf(pages: Sequence[Sequence[str]], *, title: str = "") -> bytes:
    """One line of text a string, in an eleven point Helvetica; a page without lines holds no text."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for n, lines in enumerate(pages):
        shown = b" T* ".join(b"(" + _pdf_text(line) + b") Tj" for line in lines)
        stream = b"BT /F1 11 Tf 15 TL 60 780 Td " + shown + b" ET" if lines else b""
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {fonts} /Contents {5 + 2 * n} 0 R >>"
        objects += [page.encode(), b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream)]
    objects.append(b"<< /Title (" + _pdf_text(title) + b") >>")
    return _pdf_file(objects)


def _pdf_text(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")


def _pdf_file(objects: Sequence[bytes]) -> bytes:
    content = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(objects) + 1, table)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    return content + trailer + b"startxref\n%d\n%%%%EOF\n" % start
