"""Whether an amount of a question lies in a range that a sentence states: 5,000 euros in "500 to 10,000 euros"."""

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from services.chat_api.domain.grounding.analysed import Analysed
from services.chat_api.domain.grounding.tokens import NUMBER, Token

# Up to a unit, and what joins the ends of a range in the four languages.
_JOINT = re.compile(r"\W*\w{0,12}\W*?(?:\bto\b|\bbis\b|\bдо\b|至|到|–|-)\W*\Z")
_BOUNDS = {"at_most": "<=", "less_than": "<", "at_least": ">=", "more_than": ">"}


def amounts_met(asked: Iterable[Token], said: Analysed) -> frozenset[str]:
    """Keys of the asked amounts that lie within what is said; only amounts of the same unit are compared."""
    return frozenset(
        token.key
        for token in asked
        if token.unit and (value := _value(token)) is not None and _is_met(value, token.unit, said)
    )


def _is_met(value: Decimal, unit: str, said: Analysed) -> bool:
    numbers = [(i, token, bound) for i, token in enumerate(said.tokens) if (bound := _value(token)) is not None]
    ends: set[int] = set()
    for (i, left, low), (k, right, high) in pairwise(numbers):
        if right.unit == unit and _joined(left, right, said.text):
            ends |= {i, k}
            if low <= value <= high:
                return True
    return any(
        token.unit == unit and i not in ends and _meets(value, _bound_before(i, said), bound)
        for i, token, bound in numbers
    )


def _joined(left: Token, right: Token, text: str) -> bool:
    same = left.clause == right.clause and left.unit in ("", right.unit)
    return same and bool(_JOINT.match(text[left.start + len(left.surface) : right.start]))


def _bound_before(index: int, said: Analysed) -> str:
    return next((_BOUNDS[name] for name, at, _clause in said.strict if at == index and name in _BOUNDS), "")


def _meets(value: Decimal, relation: str, bound: Decimal) -> bool:
    match relation:
        case "<=":
            return value <= bound
        case "<":
            return value < bound
        case ">=":
            return value >= bound
        case ">":
            return value > bound
    return False


def _value(token: Token) -> Decimal | None:
    if token.kind != NUMBER:
        return None
    try:
        return Decimal(token.key.removeprefix("#"))
    except InvalidOperation:
        return None
