"""Documents cut into chunks of a size that one embedding can stand for, each led by the path of its headings."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.knowledge_store.domain.markdown_blocks import Block, Section, parse_paragraphs, parse_sections
from services.knowledge_store.domain.words import CJK

# In words of a European language; the embedding model reads about 512 tokens.
TARGET_WORDS = 180
MAX_WORDS = 220
MIN_WORDS = 40
MAX_TABLE_WORDS = 300
# A Chinese word has about two characters, and a token about one and a half.
WORDS_PER_CJK_CHARACTER = 0.6
LONG_WORD_CHARACTERS = 12
MAX_UNBROKEN_CHARACTERS = 1_200

_MEASURE = re.compile(f"[{CJK}]|[^\\s{CJK}]+")
_CJK_CHARACTER = re.compile(f"[{CJK}]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_TABLE_RULE = re.compile(r"\s*\|[\s:|-]+\|\s*$")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that is not split any more, and how it is joined to what stands before it."""

    text: str
    size: float
    joint: str


def chunk_markdown(title: str, text: str) -> list[str]:
    """The chunks of a Markdown document; a section is never mixed with another one."""
    return [chunk for section in parse_sections(text) for chunk in _chunk_section(title, section)]


def chunk_plain_text(title: str, text: str) -> list[str]:
    return list(_chunk_section(title, Section((), tuple(parse_paragraphs(text)))))


def measure(text: str) -> float:
    """The length of a text in words; a CJK character counts as a part of one, an endless string as several."""
    return sum(
        WORDS_PER_CJK_CHARACTER if _CJK_CHARACTER.match(unit) else max(1.0, len(unit) / LONG_WORD_CHARACTERS)
        for unit in _MEASURE.findall(text)
    )


def _chunk_section(title: str, section: Section) -> Iterator[str]:
    path = section.path if section.path[:1] == (title,) else (title, *section.path)
    head = f"# {' > '.join(path)}"
    for body in _pack([piece for block in section.blocks for piece in _split_block(block)]):
        yield f"{head}\n{body}"


def _pack(pieces: list[_Piece]) -> list[str]:
    """Fill chunks up to the target; a short remainder joins the chunk before it."""
    groups: list[list[_Piece]] = []
    size = 0.0
    for piece in pieces:
        if not groups or (size + piece.size > MAX_WORDS and size >= MIN_WORDS) or size >= TARGET_WORDS:
            groups.append([])
            size = 0.0
        groups[-1].append(piece)
        size += piece.size
    if (
        len(groups) > 1
        and _size(groups[-1]) < MIN_WORDS
        and _size(groups[-2]) + _size(groups[-1]) <= MAX_WORDS + MIN_WORDS
    ):
        groups[-2:] = [groups[-2] + groups[-1]]
    return [_join(group) for group in groups]


def _size(group: list[_Piece]) -> float:
    return sum(piece.size for piece in group)


def _join(group: list[_Piece]) -> str:
    return group[0].text + "".join(piece.joint + piece.text for piece in group[1:])


def _split_block(block: Block) -> Iterator[_Piece]:
    size = measure(block.text)
    if size <= (MAX_TABLE_WORDS if block.kind == "table" else MAX_WORDS):
        yield _Piece(block.text, size, "\n\n")
    elif block.kind == "table":
        yield from _split_table(block)
    elif block.kind == "paragraph":
        yield from _pieces(_SENTENCE_END.split(block.text), joint=" ")
    else:
        yield from _pieces(block.lines, joint="\n")


def _pieces(texts: Iterable[str], joint: str) -> Iterator[_Piece]:
    for text in texts:
        for start in range(0, len(text), MAX_UNBROKEN_CHARACTERS):
            part = text[start : start + MAX_UNBROKEN_CHARACTERS]
            yield _Piece(part, measure(part), joint if start == 0 else "")


def _split_table(block: Block) -> Iterator[_Piece]:
    """A long table in parts that each repeat its header: a row without it says nothing."""
    has_header = len(block.lines) > 1 and _TABLE_RULE.match(block.lines[1]) is not None
    header, rows = (block.lines[:2], block.lines[2:]) if has_header else ((), block.lines)
    part: list[str] = []
    for row in rows:
        if part and measure("\n".join([*header, *part, row])) > MAX_WORDS:
            yield _table_piece(header, part)
            part = []
        part.append(row)
    if part:
        yield _table_piece(header, part)


def _table_piece(header: tuple[str, ...], rows: list[str]) -> _Piece:
    text = "\n".join([*header, *rows])
    return _Piece(text, measure(text), "\n\n")
