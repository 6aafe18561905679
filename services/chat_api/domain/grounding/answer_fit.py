"""Whether a sentence that repeats the question puts into it what the passage has there.

A right word in a wrong place is what no coverage can see: "the average household size: 19.3 %" is made of the
passage's own words. So the answer must be of the kind asked for, and stand near the question's words in the evidence,
as near as the passage's other names or numbers. Each clue adds up; the weights are fitted on half of the articles of
a public question set and reported on the other (`benchmarks/gate`).
"""

from dataclasses import dataclass

from services.chat_api.domain.grounding.alignment import UNMATCHED
from services.chat_api.domain.grounding.asking import measures_of
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.question_map import QuestionMap, family
from services.chat_api.domain.grounding.tokens import CALENDAR, NUMBER, Token

_ENOUGH = 1.9
_WEIGHTS = {"about": 1.8, "nearness": 5.2, "behind_rival": -1.7, "repeats": -1.5, "wrong_kind": -1.1}
_WRONG_KIND = 2.0
_TIMES = frozenset({"year", "month", "week", "day", "hour", "minute", "second", "century", "decade"})
_VAGUE_NUMBERS = frozenset({"half", "double", "triple", "most", "some", "all"})


@dataclass(frozen=True, slots=True)
class Clues:
    """`about` and `nearness` are 0..1 (see QuestionMap); `behind_rival` is how much nearer another name or number
    stands; `repeats` the share of the answer that is but the question's words; `wrong_kind` a cost."""

    about: float
    nearness: float
    behind_rival: float
    repeats: float
    wrong_kind: float

    def score(self) -> float:
        return sum(weight * float(getattr(self, name)) for name, weight in _WEIGHTS.items())


def answers_elsewhere(held: Comparison, asked: QuestionMap, number: int, *, bare: bool) -> bool:
    """Whether the answer stands in sentence `number` for something else than what is asked.

    `bare` tells that the sentence is the question with an answer after it, so that the answer's kind can be judged.
    """
    clues = read_clues(held, asked, number, bare=bare)
    offered = clues is not None and clues.repeats == 1.0 and held.question.chooses
    if clues is None or offered or not asked.in_one_place:
        return clues is not None and clues.wrong_kind >= _WRONG_KIND
    if clues.score() >= _ENOUGH:
        return False
    answer = frozenset(token.key for token in held.tokens if not held.asked(token.key))
    return clues.wrong_kind >= _WRONG_KIND or not asked.bridged(number, answer)


def read_clues(held: Comparison, asked: QuestionMap, number: int, *, bare: bool) -> Clues | None:
    """None if nothing of the answer stands in the evidence."""
    tokens, keys = held.tokens, held.question.keys
    new = [i for i, token in enumerate(tokens) if token.key not in keys]
    repeats = 1 - len(new) / len(tokens)
    new = new or list(range(len(tokens)))
    span = [held.at[i] for i in new if held.at[i] != UNMATCHED]
    if not span:
        return None
    answer = [tokens[i] for i in new]
    near, about = asked.nearness(number, span), asked.about(number)
    kinds = {family(token) for token in answer}
    kind = 1 if 1 in kinds else 2 if 2 in kinds else 0
    rival = asked.rival(kind, number, span) if kind else 0.0
    cost = wrong_kind(held, answer) if bare else 0.0
    return Clues(about, near, max(0.0, rival - near - about / 2), repeats, cost)


def wrong_kind(held: Comparison, answer: list[Token]) -> float:
    """How much the answer is of another kind than the question asks for; 0 if it may be of the right one."""
    wants = held.question.wants
    numbers = [token for token in answer if family(token) == 1]
    units = measures_of(answer)
    timed = bool(units & _TIMES)
    if "number" in wants and not numbers and not _counts_vaguely(held):
        return 2.3
    if "date" in wants and "number" not in wants and not timed and not any(_dates(token) for token in answer):
        return 2.4 if numbers else 7.0
    if numbers and "percent" in held.question.measures and "percent" not in units:
        return 5.7
    if not held.question.takes_number and all(family(token) == 1 or token.key.startswith("u:") for token in answer):
        return 7.0 if "name" in wants else 1.8
    if wants == {"name"} and held.data.code in ("en", "ru") and not any(family(token) == 2 for token in answer):
        return 0.8
    return 0.0


def _counts_vaguely(held: Comparison) -> bool:
    return any(category in _VAGUE_NUMBERS and index >= held.first for category, index, _clause in held.said.strict)


def _dates(token: Token) -> bool:
    year = token.kind == NUMBER and len(token.key) == 5 and token.key[1:].isdigit() and token.key[1] in "12"
    return token.kind == CALENDAR or year or token.key.startswith("t") or token.surface in ("March", "May")
