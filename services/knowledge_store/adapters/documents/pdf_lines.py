"""From the lines that stand on the pages of a PDF to paragraphs."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

# A running head or foot is looked for in so many lines at either edge, on so many pages and such a share of them.
_EDGE_LINES = 2
_MIN_PAGES = 3
_MIN_SHARE = 0.6
# A line this near to the widest one ended because the paper did.
_FULL_LINE_SHARE = 0.8
_MIN_FULL_LINE = 40
_NUMBER = re.compile(r"(?<!\d)[0-9]{1,5}(?!\d)")
_MAX_NUMBERS = 4
_NEW_ITEM = re.compile(r"\s*(?:[-•*–▪◦‣]|\(?\d{1,3}[.)]|[a-z]\))\s+\S")
_HYPHEN = re.compile(r"(\w+)[-\u2010]$")
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")

Page = Sequence[str]


def join_pages(pages: Sequence[Page]) -> str:
    """The pages in order as one text: running heads and feet dropped, wrapped lines joined, hyphenation undone."""
    bodies = _without_running_lines([[line.rstrip() for line in page] for page in pages])
    whole = "\n".join(line for page in bodies for line in page)
    return "\n\n".join(paragraph for page in bodies for paragraph in _paragraphs(page, whole))


def _without_running_lines(pages: list[list[str]]) -> list[list[str]]:
    pages = [[line for line in page if line.strip()] for page in pages]
    if len(pages) < _MIN_PAGES:
        return pages
    counts = Counter(
        shape
        for number, page in enumerate(pages)
        for shape in {shape for line in _edges(page) for shape in _shapes(line, number)}
    )
    running = {shape for shape, n in counts.items() if n >= max(_MIN_PAGES, _MIN_SHARE * len(pages))}
    trimmed = [_trim(page, number, running) for number, page in enumerate(pages)]
    return trimmed if any(trimmed) else pages


def _edges(page: list[str]) -> list[str]:
    return page[:_EDGE_LINES] + page[-_EDGE_LINES:]


def _shapes(line: str, page_number: int) -> set[str]:
    """The line as it is, and as it is with one of its numbers counted from the page it stands on."""
    text = " ".join(line.split())
    counted = (
        f"{text[: found.start()]}#{int(found[0]) - page_number}{text[found.end() :]}"
        for found in islice(_NUMBER.finditer(text), _MAX_NUMBERS)
    )
    return {text, *counted}


def _trim(page: list[str], number: int, running: set[str]) -> list[str]:
    start, end = 0, len(page)
    while start < min(_EDGE_LINES, end) and not running.isdisjoint(_shapes(page[start], number)):
        start += 1
    while end > max(start, len(page) - _EDGE_LINES) and not running.isdisjoint(_shapes(page[end - 1], number)):
        end -= 1
    return page[start:end]


def _paragraphs(lines: Sequence[str], whole: str) -> list[str]:
    width = max((len(line) for line in lines), default=0)
    full = max(_MIN_FULL_LINE, _FULL_LINE_SHARE * width)
    paragraphs: list[str] = []
    is_open = False
    for line in lines:
        text = line.strip()
        if is_open and not _NEW_ITEM.match(line):
            paragraphs[-1] = _join(paragraphs[-1], text, whole)
        else:
            paragraphs.append(text)
        is_open = len(line) >= full * (0.5 if _CJK.search(text) else 1) or _ends_in_hyphen(text)
    return [paragraph.replace("\u00ad", "") for paragraph in paragraphs if paragraph]


def _ends_in_hyphen(text: str) -> bool:
    return text.endswith("\u00ad") or _HYPHEN.search(text) is not None


def _join(before: str, after: str, whole: str) -> str:
    if before.endswith("\u00ad"):
        return before[:-1] + after
    broken = _HYPHEN.search(before)
    if broken and after[:1].islower():
        following = re.match(r"\w+", after)
        # A compound that stands elsewhere with its hyphen keeps it.
        keeps = following is not None and f"{broken[1]}-{following[0]}" in whole
        return before + after if keeps else before[:-1] + after
    if _CJK.search(before[-1:]) and _CJK.search(after[:1]):
        return before + after
    return f"{before} {after}"
