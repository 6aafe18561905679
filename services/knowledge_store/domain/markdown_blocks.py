"""Markdown cut into sections and blocks: as much of the syntax as it takes to split a text where it may be split."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

BlockKind = Literal["paragraph", "list", "table", "code"]

_ATX_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\S")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    kind: BlockKind
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading; `path` is the headings from the outermost to this one."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]


def first_heading(text: str) -> str | None:
    return next((heading for _, heading in _split_at_headings(text.splitlines()) if heading), None)


def parse_sections(text: str) -> list[Section]:
    """The sections that hold any text, in order."""
    path: list[tuple[int, str]] = []
    sections = []
    lines = text.splitlines()
    for (level, heading), body in _with_bodies(lines):
        if heading is not None:
            path = [(depth, title) for depth, title in path if depth < level] + [(level, heading)]
        blocks = tuple(_parse_blocks(body))
        if blocks:
            sections.append(Section(tuple(title for _, title in path if title), blocks))
    return sections


def parse_paragraphs(text: str) -> list[Block]:
    """Plain text: blocks are what blank lines separate."""
    groups: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip():
            groups[-1].append(line.rstrip())
        elif groups[-1]:
            groups.append([])
    return [Block("paragraph", tuple(group)) for group in groups if group]


def _with_bodies(lines: list[str]) -> Iterator[tuple[tuple[int, str | None], list[str]]]:
    body: list[str] = []
    head: tuple[int, str | None] = (0, None)
    for level, content in _split_at_headings(lines, with_text=True):
        if level:
            yield head, body
            head, body = (level, content), []
        else:
            body.append(content)
    yield head, body


def _split_at_headings(lines: list[str], *, with_text: bool = False) -> Iterator[tuple[int, str]]:
    """(level, heading) for each heading and, if asked for, (0, line) for every other line."""
    fence: str | None = None
    skip = False
    for line, following in pairwise([*lines, ""]):
        if skip:
            skip = False
            continue
        fence = _next_fence(fence, line)
        heading = None if fence else _heading_of(line, following)
        if heading is not None:
            skip = heading[2]
            yield heading[0], heading[1]
        elif with_text:
            yield 0, line


def _next_fence(fence: str | None, line: str) -> str | None:
    """The marker of the code fence that is open after this line."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if fence is None:
        return mark[1]
    return None if mark[1].startswith(fence) else fence


def _heading_of(line: str, following: str) -> tuple[int, str, bool] | None:
    """(level, heading, whether the next line underlines it), or None."""
    atx = _ATX_HEADING.match(line)
    if atx is not None:
        return len(atx[1]), (atx[2] or "").strip(), False
    underline = _SETEXT_UNDERLINE.match(following)
    if underline is not None and line.strip() and not _LIST_ITEM.match(line) and not _TABLE_ROW.match(line):
        return (1 if underline[1].startswith("=") else 2), line.strip(), True
    return None


def _parse_blocks(lines: Iterable[str]) -> Iterator[Block]:
    kind: BlockKind | None = None
    group: list[str] = []
    fence: str | None = None
    for line in lines:
        was_in_fence = fence is not None
        fence = _next_fence(fence, line)
        found = "code" if fence or was_in_fence else _kind_of(line, kind)
        if group and found != kind:
            yield Block(kind or "paragraph", tuple(group))
            group = []
        kind = found
        if kind is not None:
            group.append(line.rstrip())
    if group and kind is not None:
        yield Block(kind, tuple(group))


def _kind_of(line: str, current: BlockKind | None) -> BlockKind | None:
    if not line.strip():
        return None
    if _TABLE_ROW.match(line):
        return "table"
    if _LIST_ITEM.match(line) or (current == "list" and line.startswith((" ", "\t"))):
        return "list"
    # A lazy continuation belongs to the list item above it.
    return "list" if current == "list" else "paragraph"
