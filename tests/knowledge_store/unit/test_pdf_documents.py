"""PDF becomes text: pages in order, lines joined to paragraphs, running heads gone."""

import io

import pytest
from pypdf import PdfReader, PdfWriter

from services.knowledge_store.adapters.documents.conversion_worker import answer
from services.knowledge_store.adapters.documents.pdf_lines import join_pages
from services.knowledge_store.adapters.documents.pdf_text import convert_pdf
from tests.support.document_files import make_pdf

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def encrypted(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf([["There are 28 days."]]))))
    writer.encrypt(password, owner_password="owner", algorithm="AES-256")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def test_pages_come_in_order_and_running_lines_go() -> None:
    texts = ["28 days of leave.", "30 days of leave.", "Ask in time.", "Name a deputy."]
    pages = [["Handbook, edition 7", text, f"Page {n} of 4"] for n, text in enumerate(texts, start=1)]
    document = convert_pdf(make_pdf(pages, title="Handbook"))
    assert (document.title, document.media_type, document.remark) == ("Handbook", "text/plain", "")
    assert document.text == "\n\n".join(texts)


def test_rows_that_only_differ_in_their_figures_are_no_running_lines() -> None:
    pages = [[f"Germany {rate}", f"{rate} euros a day."] for rate in (32, 40, 64, 58)]
    assert join_pages(pages).count("Germany") == 4


def test_wrapped_lines_become_a_paragraph_and_short_lines_stay_apart() -> None:
    lines = [
        "Every full-time employee of the company has twenty-eight days of annual leave",
        "per calendar year.",
        "Germany 32 16",
        "France 40 20",
        "- an item that goes on until the very end of its line and is then continued by",
        "another line",
        "- the next item",
    ]
    assert join_pages([lines]).split("\n\n") == [
        "Every full-time employee of the company has twenty-eight days of annual leave per calendar year.",
        "Germany 32 16",
        "France 40 20",
        "- an item that goes on until the very end of its line and is then continued by another line",
        "- the next item",
    ]


def test_hyphenation_is_undone_but_compounds_keep_their_hyphen() -> None:
    lines = [
        "The long-term plan of the company and the information about it, and all infor-",
        "mation after that, belong to the archive of the company, as does each long-",
        "term contract.",
    ]
    text = join_pages([lines])
    assert "all information after" in text
    assert "each long-term contract" in text


def test_chinese_lines_are_joined_without_a_space() -> None:
    line = "每位全职员工每个日历年享有二十八天年假法定节假日不计入年假从入职第六年起年假增加到三十天"
    assert join_pages([[line, "学徒从入职第一天起就有三十天年假。"]]) == line + "学徒从入职第一天起就有三十天年假。"


@pytest.mark.parametrize("title", ["", "Untitled", "Microsoft Word - leave.doc", "leave.docx"])
def test_title_that_a_program_wrote_is_no_title(title: str) -> None:
    assert convert_pdf(make_pdf([["There are 28 days."]], title=title)).title == ""


def test_page_without_text_is_remarked() -> None:
    document = convert_pdf(make_pdf([["There are 28 days."], [], ["The end."]]))
    assert document.text == "There are 28 days.\n\nThe end."
    assert "page 2" in document.remark


def test_protection_against_changes_is_no_hindrance() -> None:
    assert convert_pdf(encrypted("")).text == "There are 28 days."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html>", "not a PDF file"),
        (b"%PDF-1.7 cut off", "damaged"),
        (make_pdf([["There are 28 days."]])[:300], "damaged"),
        (make_pdf([[], []]), "text recognition"),
        (encrypted("secret"), "password"),
    ],
)
def test_file_that_cannot_be_read_says_why(content: bytes, reason: str) -> None:
    assert reason in answer("pdf", content)["reason"]
