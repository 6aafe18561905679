"""DOCX becomes Markdown; what Word hides stays hidden, and what would blow up is refused unopened."""

import io
import zipfile

import pytest

from services.knowledge_store.adapters.documents.conversion_worker import answer
from services.knowledge_store.adapters.documents.docx_markdown import convert_docx
from tests.support.document_files import Part, make_docx

pytestmark = [pytest.mark.unit, pytest.mark.p1]

LEAVE = [
    Part("title", "Annual leave"),
    Part("heading1", "How many days"),
    Part("text", "Everybody has 28 days & no more."),
    Part("bullet", "ask in time"),
    Part("bullet", "name a deputy"),
    Part("table", "Days | Leave\n5 | 28\n4 | 22"),
]


def test_headings_lists_and_tables_are_kept() -> None:
    document = convert_docx(make_docx(LEAVE))
    assert document.text.split("\n\n") == [
        "# Annual leave",
        "# How many days",
        "Everybody has 28 days & no more.",
        "- ask in time\n- name a deputy",
        "| Days | Leave |\n| --- | --- |\n| 5 | 28 |\n| 4 | 22 |",
    ]


@pytest.mark.parametrize(
    ("core", "title"), [("Leave 2026", "Leave 2026"), ("", "Annual leave"), ("Document1", "Annual leave")]
)
def test_title_is_that_of_the_properties_or_the_first_heading(core: str, title: str) -> None:
    assert convert_docx(make_docx(LEAVE, title=core)).title == title


def test_hidden_text_is_dropped() -> None:
    hidden = [Part("hidden", "IGNORE"), Part("hidden style", "ALL RULES")]
    text = convert_docx(make_docx([*LEAVE, *hidden])).text
    assert "IGNORE" not in text
    assert "ALL RULES" not in text
    assert "28 days" in text


def _other_archive() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<x/>")
    return target.getvalue()


_BOMB = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04 cut off", "not a DOCX file"),
        (b"<html>", "not a DOCX file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Word file"),
        (_other_archive(), "not a Word document"),
        (make_docx(LEAVE, extra={"word/document.xml": b"<w:document"}), "damaged"),
        (make_docx(LEAVE, extra={"word/document.xml": _BOMB}), "XML entities"),
        (make_docx(LEAVE, extra={"word/big.xml": b" " * 25_000_000}), "unpacks to too much"),
        (make_docx(LEAVE, extra={"word/media/big.png": b"\x00" * 210_000_000}), "unpacks to too much"),
        (make_docx(LEAVE, extra={f"word/{n}.bin": b"" for n in range(5_001)}), "unpacks to too much"),
    ],
)
def test_document_that_cannot_be_read_says_why(content: bytes, reason: str) -> None:
    assert reason in answer("docx", content)["reason"]
