"""Negation, strength and polarity: words that few share by weight and that turn the meaning."""

from collections import Counter

from services.chat_api.domain.grounding.alignment import UNMATCHED
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.release import RejectionReason

_STICKY = frozenset({"only", "must", "may", "at_least", "at_most", "more_than", "less_than", "most", "some", "almost"})
# "can" adds nothing to what is, and stands for "may".
_ABILITY = "can"


def check_meaning(held: Comparison) -> RejectionReason | None:
    if _negation_added(held) or _negation_dropped(held):
        return RejectionReason.NEGATION_CHANGED
    if _polarity_changed(held):
        return RejectionReason.POLARITY_CHANGED
    if _strength_changed(held):
        return RejectionReason.STRENGTH_CHANGED
    return None


def _reach(held: Comparison) -> int:
    return 4 if held.data.code == "zh" else 2


def _negation_added(held: Comparison) -> bool:
    left = [place for place, _clause in held.evidence.said.negations]
    for index, _clause in held.said.negations:
        if not _holds_mark(held, index):
            continue
        local = index - held.first
        near = [held.at[k] for k in (local, local - 1, local + 1) if 0 <= k < len(held.at) and held.at[k] != UNMATCHED]
        if not _use_up(left, near, _reach(held)):
            return True
    return False


def _negation_dropped(held: Comparison) -> bool:
    left = [index - held.first for index, _clause in held.said.negations]
    tokens = held.evidence.said.tokens
    for place, clause in held.evidence.said.negations:
        attached = _attached(held, place, clause, tokens[place].clause if place < len(tokens) else -1)
        if attached and not _use_up(left, attached, _reach(held)):
            return True
    return False


def _use_up(left: list[int], near: list[int], reach: int) -> bool:
    """Takes the nearest negation out of `left`: one there answers for one here."""
    distances = [(min(abs(place - other) for other in near), place) for place in left] if near else []
    distance, place = min(distances, default=(reach + 1, 0))
    if distance > reach:
        return False
    left.remove(place)
    return True


def _attached(held: Comparison, place: int, clause: int, next_clause: int) -> list[int]:
    """The sentence's token that the evidence negates: the word after the negation, or before it at a clause's end."""
    after, before = held.placed.get(place), held.placed.get(place - 1)
    if next_clause != clause:
        return [] if before is None else [before]
    if after is not None:
        return [after]
    beyond = held.placed.get(place + 1)
    return [before] if before is not None and beyond is not None and 0 < beyond - before <= 2 else []


def _expected_places(held: Comparison, local: int) -> set[int]:
    """Where in the evidence a mark before token `local` should stand, by its matched neighbours."""
    at = held.at
    places = set()
    for k in (local - 1, local, local + 1):
        if 0 <= k < len(at) and at[k] != UNMATCHED:
            places.add(at[k] + local - k)
    return places


def _holds_mark(held: Comparison, index: int) -> bool:
    return held.first <= index < held.last or index == held.last == len(held.said.tokens)


def _polarity_changed(held: Comparison) -> bool:
    if held.data.code == "zh":
        return _han_polarity_changed(held)
    polar = held.data.polar
    theirs = Counter(word for word, _place in held.evidence.said.opposed)
    ours = Counter(word for word, index in held.said.opposed if _holds_mark(held, index))
    fewer = {word for word, count in theirs.items() if count > ours[word]}
    if any(count > theirs[word] and polar[word] & fewer for word, count in ours.items()):
        return True
    return any(
        _opposed_in_place(held, word, _expected_places(held, index - held.first))
        for word, index in held.said.opposed
        if _holds_mark(held, index)
    )


def _opposed_in_place(held: Comparison, word: str, places: set[int]) -> bool:
    there = {their for their, place in held.evidence.said.opposed if place in places}
    return word not in there and bool(held.data.polar[word] & there)


def _han_polarity_changed(held: Comparison) -> bool:
    """A word stands more often than there, and its opposite less often."""
    ours, theirs = held.said.text, held.evidence.text
    return any(
        _more_often(word, ours, theirs) and any(_less_often(other, ours, theirs) for other in others)
        for word, others in held.data.polar.items()
    )


def _more_often(word: str, ours: str, theirs: str) -> bool:
    """A single character is part of other words as well, so it counts only where there is none of it."""
    return ours.count(word) > theirs.count(word) if len(word) > 1 else word in ours and word not in theirs


def _less_often(word: str, ours: str, theirs: str) -> bool:
    return ours.count(word) < theirs.count(word) if len(word) > 1 else word in theirs and word not in ours


def _strength_changed(held: Comparison) -> bool:
    theirs = held.evidence.said.strict
    ours = [(category, index) for category, index, _clause in held.said.strict if _holds_mark(held, index)]
    for category, index in ours:
        if (
            category != _ABILITY
            and category not in held.question.strict
            and not _as_strong(held, category, index - held.first)
        ):
            return True
    said = {"may" if category == _ABILITY else category for category, _index in ours}
    for category, place, _clause in theirs:
        dropped = category in _STICKY and category not in said and place in held.placed
        if dropped and (place == 0 or place - 1 in held.placed):
            return True
    return False


def _as_strong(held: Comparison, category: str, local: int) -> bool:
    """The evidence has the same strict word, and near the same words."""
    theirs = [place for their, place, _clause in held.evidence.said.strict if their == category]
    expected = _expected_places(held, local)
    reach = 2 * _reach(held)
    return bool(theirs) and (not expected or any(abs(place - e) <= reach for place in theirs for e in expected))
