"""Text to a row of pieces, each with its clause and its place."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from services.chat_api.domain.grounding.language_data.loader import LanguageData
from services.chat_api.domain.grounding.pieces import Piece, chunk_pieces, han_pieces, mixed_pieces
from services.chat_api.domain.grounding.tokens import PATTERN

_SIGNS = {
    "%": "percent",
    "€": "euro",
    "£": "sterling",
    "¥": "yuan",
    "₽": "rouble",
    "$": "dollar",
    "°": "degree",
    "‰": "permille",
}

Item = tuple[Piece, int, int]
# A word between spaces: its pieces and breaks in order, each with its offset in the word.
_Parts = tuple[tuple[Piece | str, int], ...]
_DIGIT = re.compile(r"\d")
_MOST_WORDS = 65_536


@lru_cache(maxsize=16)
def _known_words(code: str) -> dict[str, _Parts]:
    """A plain dictionary, quicker than the caches below it: most of a sentence is words seen before."""
    return {}


def scan(text: str, data: LanguageData) -> tuple[list[Item], set[int]]:
    """(piece, clause, offset) in order, and before which of them punctuation breaks the sentence."""
    items: list[Item] = []
    breaks: set[int] = set()
    clause = size_at_break = 0
    add = items.append
    for found, start in _parts(text, data):
        if isinstance(found, Piece):
            add((found, clause, start))
            continue
        if found not in "()|":
            breaks.add(len(items))
        if len(items) - size_at_break >= 3 and found != "、":
            clause += 1
            size_at_break = len(items)
    return items, breaks


def _parts(text: str, data: LanguageData) -> list[tuple[Piece | str, int]]:
    """Pieces and breaks with their offsets. What stands between spaces is read once for all, but where digits may
    go on after a space."""
    if data.code == "zh":
        return list(_read_parts(text, data))
    known = _known_words(data.code)
    parts: list[tuple[Piece | str, int]] = []
    words = text.split(" ")
    start = i = 0
    while i < len(words):
        word = words[i]
        found = known.get(word)
        if found is None:
            last = i
            while last < len(words) and _DIGIT.search(words[last]):
                last += 1
            if last > i:
                word = " ".join(words[i:last])
                i = last - 1
            found = tuple(_read_parts(word, data))
            if last == i:
                if len(known) > _MOST_WORDS:
                    known.clear()
                known[word] = found
        for part, offset in found:
            parts.append((part, start + offset))
        start += len(word) + 1
        i += 1
    return parts


def _read_parts(text: str, data: LanguageData) -> Iterator[tuple[Piece | str, int]]:
    code = data.code
    for match in PATTERN.finditer(text):
        kind = match.lastgroup
        found = match.group()
        start = match.start()
        if kind == "sep":
            kind = "num"
        if kind == "break":
            yield found, start
            continue
        if kind == "word" or kind == "chunk":
            pieces: Sequence[Piece] = chunk_pieces(found, code)
        elif kind == "han":
            pieces = han_pieces(found, code)
        else:
            pieces = _other_pieces(kind or "", found, text, start, data)
        for piece in pieces:
            yield piece, start
            start += len(piece.surface)


def _other_pieces(kind: str, found: str, text: str, start: int, data: LanguageData) -> Sequence[Piece]:
    negative = start > 0 and text[start - 1] in "-−" and (start == 1 or text[start - 2] in " (\u00a0")
    if kind == "mixed":
        unsigned = mixed_pieces(found, data.code)
        return (Piece(found, found, key=f"id:-{found}", identifier=True),) if negative else unsigned
    if kind == "sign":
        return (Piece(found, found, unit=_SIGNS[found], sign=True),)
    if kind == "date":
        return _date_pieces(found, data)
    if kind == "time":
        return (Piece(found, found, key="t" + found.lstrip("0").rjust(4, "0"), value=0, digits=":"),)
    if kind in ("url", "email"):
        return (Piece(found, found, key=f"id:{found.casefold().rstrip('/')}", identifier=True),)
    if kind == "version":
        if all(len(part) == 3 for part in found.split(".")[1:]):
            return (Piece(found, found, digits=found),)
        return (Piece(found, found, key=f"id:{found}", identifier=True),)
    return (Piece(found, "-" if negative else "", digits=found),)


def _date_pieces(found: str, data: LanguageData) -> Sequence[Piece]:
    separator = next(char for char in found if char in "-./")
    parts = [int(part) for part in found.replace(" ", "").split(separator)]
    if parts[0] > 31:
        year, month, day = parts
    elif separator == "." or parts[0] > 12 or (data.date_order != "mdy" and parts[1] <= 12):
        day, month, year = parts
    else:
        month, day, year = parts
    return (
        Piece(str(year), "", digits=str(year)),
        Piece(found, "", month=month, sign=True),
        Piece(str(day), "", digits=str(day)),
    )
