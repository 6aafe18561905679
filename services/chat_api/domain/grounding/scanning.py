"""Text to a row of pieces, each with its clause and its place."""

from collections.abc import Sequence

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


def scan(text: str, data: LanguageData) -> tuple[list[Item], set[int]]:
    """(piece, clause, offset) in order, and before which of them punctuation breaks the sentence."""
    items: list[Item] = []
    breaks: set[int] = set()
    clause = 0
    size_at_break = 0
    code = data.code
    for match in PATTERN.finditer(text):
        kind = match.lastgroup
        if kind == "sep":
            kind = "num"
        found = match.group()
        start = match.start()
        if kind in ("word", "chunk"):
            pieces: Sequence[Piece] = chunk_pieces(found, code)
        elif kind == "han":
            pieces = han_pieces(found, code)
        elif kind == "break":
            if found not in "()|":
                breaks.add(len(items))
            if len(items) - size_at_break >= 3 and found != "、":
                clause += 1
                size_at_break = len(items)
            continue
        else:
            pieces = _other_pieces(kind or "", found, text, start, data)
        for piece in pieces:
            items.append((piece, clause, start))
            start += len(piece.surface)
    return items, breaks


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
