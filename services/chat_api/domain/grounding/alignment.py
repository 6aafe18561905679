"""Which word of the evidence each word of the sentence stands on."""

from collections.abc import Iterable

from services.chat_api.domain.grounding.analysis import Analysed
from services.chat_api.domain.grounding.tokens import CAPITAL, HANCHAR, NAME, NUMBER, WORD, Token

UNMATCHED = -1
_NOWHERE: list[int] = []


def align(said: Analysed, evidence: Analysed, first: int = 0, last: int | None = None) -> list[int]:
    """For the tokens first..last of `said`: the index of their token in `evidence`, or UNMATCHED.

    Longer runs win: a word that stands several times is put where its neighbours stand too.
    """
    tokens = said.tokens[first:last]
    positions = evidence.positions
    places = [_places(token, positions) if token.others else positions.get(token.key, _NOWHERE) for token in tokens]
    at = [UNMATCHED] * len(tokens)
    previous = UNMATCHED
    for i, found in enumerate(places):
        if not found:
            continue
        if tokens[i].kind == NUMBER and len(found) > 1:
            found = [place for place in found if place not in at] or found
        if len(found) == 1:
            at[i] = found[0]
        elif previous + 1 in found and previous != UNMATCHED:
            at[i] = previous + 1
        else:
            at[i] = max(found, key=lambda place: (_run(places, i, place), -abs(place - previous)))
        previous = at[i]
    if any(token.kind == HANCHAR for token in tokens):
        _drop_lone_characters(tokens, at)
    return at


def _places(token: Token, positions: dict[str, list[int]]) -> list[int]:
    found = positions.get(token.key)
    if token.others:
        found = (found or []) + [place for key in token.others for place in positions.get(key, ())]
    return found or []


def _run(places: list[list[int]], i: int, place: int) -> int:
    length = 0
    while i + length < len(places) and place + length in places[i + length] and length < 6:
        length += 1
    return length


def _drop_lone_characters(tokens: list[Token], at: list[int]) -> None:
    """A Chinese character says little alone: it counts only in a run of two and more."""
    lone = []
    for i, token in enumerate(tokens):
        if token.kind != HANCHAR or at[i] == UNMATCHED:
            continue
        left = i > 0 and at[i - 1] == at[i] - 1 and at[i - 1] != UNMATCHED
        right = i + 1 < len(at) and at[i + 1] == at[i] + 1
        if not left and not right:
            lone.append(i)
    for i in lone:
        at[i] = UNMATCHED


def match_relatives(tokens: list[Token], evidence: Analysed, at: list[int]) -> None:
    """Puts unmatched words on evidence words of the same family ("rotate", "rotation"; German compounds)."""
    taken = set(at)
    for i, token in enumerate(tokens):
        if (
            at[i] != UNMATCHED
            or token.kind != WORD
            or len(token.key) < 4
            or (token.case == NAME and token.key.isascii())
        ):
            continue
        for j in _kin(token, evidence):
            if j not in taken and related(token.key, evidence.tokens[j].key, compound=token.case == CAPITAL):
                at[i] = j
                taken.add(j)
                break


def _kin(token: Token, evidence: Analysed) -> Iterable[int]:
    """Words that begin alike; for a German noun every long word, as it may be part of a compound."""
    if token.case == CAPITAL:
        return evidence.long_words
    return evidence.by_beginning.get(token.key[:3], ())


def related(left: str, right: str, *, compound: bool = False) -> bool:
    if left[:3] != right[:3] and not compound:
        return False
    short, long = (left, right) if len(left) <= len(right) else (right, left)
    if len(short) < 4:
        return False
    if compound and (long.startswith(short) or long.endswith(short)):
        return True
    shared = 0
    for a, b in zip(short, long, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= 4 and (shared >= len(short) - 1 or shared >= 0.7 * len(long)) and len(long) - shared <= 5
