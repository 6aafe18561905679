"""HTML to Markdown: headings, lists and tables stay; nothing that acts, hides or leads elsewhere does."""

import re

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

from services.knowledge_store.adapters.documents.converted import ConvertedDocument
from services.knowledge_store.adapters.documents.html_charset import decode_html
from services.knowledge_store.adapters.documents.html_hidden import remove_unseen
from services.knowledge_store.adapters.documents.html_implied import close_implied
from services.knowledge_store.adapters.documents.html_tables import straighten_tables
from services.knowledge_store.domain.errors import UnreadableFileError

# Emphasis says nothing to a search, and its marks would stand in the middle of quoted sentences.
_PLAIN = ("a", "b", "strong", "i", "em", "u", "img", "kbd", "samp", "code", "q", "sub", "sup", "mark", "ins")
_SPACES = re.compile(r"\s+")
_BLANK_LINES = re.compile(r"\n{3,}")
_LINE_END_SPACES = re.compile(r"[ \t]+$", re.MULTILINE)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")


def convert_html(content: bytes) -> ConvertedDocument:
    """Raises `UnreadableFileError`."""
    html = decode_html(content)
    if not re.search(r"<[a-zA-Z!]", html):
        raise UnreadableFileError("this is not HTML: there is no tag in it")
    return markdown_of(html)


def markdown_of(html: str) -> ConvertedDocument:
    soup = BeautifulSoup(html, "html.parser")
    title = _text_of(soup.title)
    close_implied(soup)
    remove_unseen(soup)
    straighten_tables(soup)
    _mark_powers(soup)
    _name_definitions(soup)
    _unwrap_lines(soup)
    heading = _text_of(soup.find("h1"))
    return ConvertedDocument(title or heading, _markdown(soup), "text/markdown")


def _markdown(soup: BeautifulSoup) -> str:
    converter = MarkdownConverter(
        heading_style="atx",
        bullets="-",
        strip=list(_PLAIN),
        table_infer_header=True,
        escape_asterisks=False,
        escape_underscores=False,
    )
    text: str = converter.convert_soup(soup)
    text = _LINE_END_SPACES.sub("", _INVISIBLE.sub("", text.replace("\u00a0", " ")))
    return _BLANK_LINES.sub("\n\n", text).strip()


def _mark_powers(soup: BeautifulSoup) -> None:
    """10<sup>3</sup> must not become 103."""
    for tag in soup.find_all("sup"):
        before = tag.previous_sibling
        digits = tag.get_text(strip=True).lstrip("-\u2212")
        if isinstance(before, str) and before[-1:].isdigit() and digits.isdigit():
            tag.insert(0, "^")


def _name_definitions(soup: BeautifulSoup) -> None:
    """A term and its definition in one line, as an item of a list."""
    for term in soup.find_all("dt"):
        definition = term.find_next_sibling(("dt", "dd"))
        if definition is not None and definition.name == "dd":
            definition.insert(0, f"{_text_of(term)}: ")
            term.decompose()
    for tag in soup.find_all(("dl", "dt", "dd")):
        tag.name = "ul" if tag.name == "dl" else "li"


def _unwrap_lines(soup: BeautifulSoup) -> None:
    """Where the source breaks a line, the page does not."""
    for text in soup.find_all(string=lambda text: "\n" in text or "\r" in text):
        if text.find_parent("pre") is None:
            text.replace_with(_SPACES.sub(" ", text))


def _text_of(tag: Tag | None) -> str:
    return " ".join(_INVISIBLE.sub("", tag.get_text(" ")).split()) if tag is not None else ""
