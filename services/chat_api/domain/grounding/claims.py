"""Numbers, dates, identifiers and names: strict. Each must stand in the evidence."""

from services.chat_api.domain.grounding.alignment import UNMATCHED, related
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.release import RejectionReason
from services.chat_api.domain.grounding.tokens import (
    CALENDAR,
    CAPITAL,
    HANCHAR,
    IDENTIFIER,
    INITIAL,
    NAME,
    NUMBER,
    WORD,
    Token,
)

_UNIT_REACH = 3
COUNTERS = frozenset({"item", "occasion", "person", "point"})
CLAIM_REASONS = {
    NUMBER: RejectionReason.UNKNOWN_NUMBER,
    CALENDAR: RejectionReason.UNKNOWN_NUMBER,
    IDENTIFIER: RejectionReason.UNKNOWN_IDENTIFIER,
}


def check_claims(held: Comparison) -> RejectionReason | None:
    """The reason of the first claim that does not stand; numbers map one to one."""
    counted: set[int] = set()
    for i, token in enumerate(held.tokens):
        if held.at[i] != UNMATCHED:
            if token.kind == NUMBER:
                if held.at[i] in counted:
                    return RejectionReason.UNKNOWN_NUMBER
                counted.add(held.at[i])
            continue
        if token.kind in CLAIM_REASONS:
            if not _licensed(held, token):
                return CLAIM_REASONS[token.kind]
        elif token.kind == WORD and token.case and not _name_licensed(held, i, token):
            return RejectionReason.UNKNOWN_NAME
    if held.data.code == "zh" and _foreign_han_name(held):
        return RejectionReason.UNKNOWN_NAME
    return check_units(held)


def _licensed(held: Comparison, token: Token) -> bool:
    """In the evidence's context, or in the question **and** the passage: the question alone licenses nothing."""
    keys = (token.key, *token.others)
    if any(held.in_context(key) for key in keys):
        return True
    return not held.after_echo and any(held.asked(key) and key in held.passage.keys for key in keys)


def _name_licensed(held: Comparison, i: int, token: Token) -> bool:
    if _licensed(held, token) or _extends_known_name(held, i, token):
        return True
    if token.case == NAME:
        return _inflected(held, token)
    if token.surface.casefold() in held.data.ordinary or token.framing:
        return True
    if held.asked(token.key) and token.key not in held.question.names and held.data.code != "de":
        return True
    if token.case == INITIAL:
        following = held.tokens[i + 1] if i + 1 < len(held.tokens) else None
        if (
            following is not None
            and following.case >= CAPITAL
            and held.at[i + 1] == UNMATCHED
            and held.data.code != "de"
        ):
            return False
    return _common_noun(held, i, token)


def _common_noun(held: Comparison, i: int, token: Token) -> bool:
    """A capital at a sentence start, and any German noun: a name only if nothing tells it from one."""
    if token.surface.casefold().endswith(held.data.noun_endings):
        return True
    if held.data.code == "de":
        return (held.first + i) in held.said.determined
    return False


def _inflected(held: Comparison, token: Token) -> bool:
    if token.surface.isascii():
        return False
    known = [other for other in held.evidence.said.tokens if other.case]
    return any(related(token.key, other.key) for other in known)


def _extends_known_name(held: Comparison, i: int, token: Token) -> bool:
    """The asker's longer form of a name that the evidence has ("Luke" beside "Kuechly") claims nothing new."""
    for k in (i - 1, i + 1):
        if 0 <= k < len(held.tokens) and held.at[k] != UNMATCHED and held.tokens[k].case:
            pair = (token.key, held.tokens[k].key)
            if pair in held.question.pairs:
                return True
    return False


def _foreign_han_name(held: Comparison) -> bool:
    """An unmatched run with several characters that mostly spell foreign names."""
    run = spelled = 0
    for i, token in enumerate(held.tokens):
        if token.kind == HANCHAR and held.at[i] == UNMATCHED and not held.asked(token.key):
            run += 1
            spelled += token.key in held.data.transliteration
            if run >= 2 and spelled >= 2 and spelled * 2 >= run:
                return True
        else:
            run = spelled = 0
    return False


def check_units(held: Comparison) -> RejectionReason | None:
    said = held.evidence.said
    for i, token in enumerate(held.tokens):
        if token.kind != NUMBER:
            continue
        if held.at[i] == UNMATCHED:
            if token.unit and token.unit not in held.question.measures and not held.in_context(f"u:{token.unit}"):
                return RejectionReason.UNIT_CHANGED
            continue
        places = [place for key in (token.key, *token.others) for place in said.positions.get(key, ())]
        units = {said.tokens[place].unit for place in places}
        if token.unit in units:
            continue
        if not token.unit:
            if units == {"percent"}:
                return RejectionReason.UNIT_CHANGED
        elif units - {""} or not _unit_nearby(held, token.unit, places):
            return RejectionReason.UNIT_CHANGED
    return RejectionReason.UNIT_CHANGED if _measure_replaced(held) else None


def _measure_replaced(held: Comparison) -> bool:
    """ "Per month" where the evidence says "per week": a measure without a number of its own, and one left out."""
    theirs = _free_measures(held.evidence.said.tokens)
    ours = {i: held.at[i] for i in _free_measures(held.tokens)}
    strange = [place for place in ours.values() if place not in theirs]
    return bool(strange) and not theirs <= set(ours.values())


def _free_measures(tokens: list[Token]) -> set[int]:
    return {
        i
        for i, token in enumerate(tokens)
        if token.key.startswith("u:")
        and not (i and tokens[i - 1].kind == NUMBER and tokens[i - 1].unit == token.key[2:])
    }


def _unit_nearby(held: Comparison, unit: str, places: list[int]) -> bool:
    """Not bound to the number but beside it ("10 to 20 percent"), or said for all the numbers of a table or list."""
    if unit in COUNTERS or held.in_context(f"u:{unit}"):
        return True
    units = held.evidence.said.positions.get(f"u:{unit}", ())
    return any(held.evidence.table or abs(there - place) <= _UNIT_REACH for there in units for place in places)
