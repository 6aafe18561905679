"""What a question asks: its words by weight, and of what kind its answer must be."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from services.chat_api.domain.grounding.analysis import analyse
from services.chat_api.domain.grounding.language_data.loader import LanguageData, load_language
from services.chat_api.domain.grounding.tokens import CALENDAR, HANCHAR, IDENTIFIER, NAME, NUMBER, Token

PAIR = "han:"
# Patterns about the question that are no kind of answer.
_NO_KINDS = frozenset({"quantity", "choice"})


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """The question's keys, which of them stand side by side in it, its strict words' categories and measures.

    `words` are its content words in order, with how much each tells; Chinese by pairs of neighbours ("han:年假"), since
    a lone character is in every text. `wants` are kinds of answer (`number`, `date`, `name`), none if it does not say;
    `takes_number` tells that a bare number may answer too ("of a town with what population"), `chooses` that the
    question offers its answers itself.
    """

    keys: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    strict: frozenset[str]
    sequence: tuple[str, ...]
    names: frozenset[str]
    words: tuple[tuple[str, float], ...]
    wants: frozenset[str]
    takes_number: bool
    chooses: bool
    measures: frozenset[str]


@lru_cache(maxsize=512)
def read_question(question: str, code: str) -> AskedQuestion:
    data = load_language(code)
    said = analyse(question, data)
    tokens = said.tokens
    pairs = {(a.key, b.key) for a, b in pairwise(tokens)}
    return AskedQuestion(
        keys=frozenset(key for token in tokens for key in (token.key, *token.others)),
        pairs=frozenset(pairs | {(b, a) for a, b in pairs}),
        strict=frozenset(category for category, _index, _clause in said.strict),
        sequence=tuple(token.key for token in tokens),
        names=frozenset(token.key for token in tokens if token.case == NAME),
        words=tuple(dict(content_words(token for token in tokens if not token.framing)).items()),
        wants=wanted_kinds(question, data),
        takes_number=_matches(question, data, "number", "date", "quantity"),
        chooses=_matches(question, data, "choice"),
        measures=measures_of(tokens),
    )


def wanted_kinds(question: str, data: LanguageData) -> frozenset[str]:
    """By the first question word: "who was there when it opened" asks for a name and for no date."""
    lowered = question.casefold()
    places = {
        kind: min((match.start() for word in words if (match := re.search(word, lowered))), default=-1)
        for kind, words in data.asking.items()
    }
    found = {kind: place for kind, place in places.items() if place >= 0 and kind not in _NO_KINDS}
    first = min(found.values(), default=0)
    return frozenset(kind for kind, place in found.items() if place == first and kind != "other")


def _matches(question: str, data: LanguageData, *kinds: str) -> bool:
    lowered = question.casefold()
    return any(re.search(word, lowered) for kind in kinds for word in data.asking.get(kind, ()))


def content_words(tokens: Iterable[Token]) -> Iterator[tuple[str, float]]:
    before: Token | None = None
    for token in tokens:
        if token.kind != HANCHAR:
            yield token.key, _weight(token)
        elif before is not None and before.kind == HANCHAR and before.start + 1 == token.start:
            yield f"{PAIR}{before.key}{token.key}", 1.0
        before = token


def measures_of(tokens: Iterable[Token]) -> frozenset[str]:
    """Units, with a number or alone."""
    return frozenset(unit for token in tokens if (unit := token.unit or _bare_unit(token.key)))


def _bare_unit(key: str) -> str:
    return key[2:] if key.startswith("u:") else ""


def _weight(token: Token) -> float:
    return 1.5 if token.case == NAME or token.kind in (NUMBER, CALENDAR, IDENTIFIER) else 1.0
