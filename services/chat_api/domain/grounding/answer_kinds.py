"""What kind of answer a question asks for, and whether a quoted sentence has one."""

from collections.abc import Iterable
from dataclasses import dataclass

from services.chat_api.domain.grounding.analysis import Analysed, analyse
from services.chat_api.domain.grounding.asking import content_words, measures_of, read_question
from services.chat_api.domain.grounding.language_data.loader import LanguageData, fold
from services.chat_api.domain.grounding.tokens import CALENDAR, IDENTIFIER, NAME, NUMBER, WORD, Token

_TIMES = frozenset({"year", "month", "week", "day", "hour", "minute", "second", "century", "decade", "clock"})
_SUMS = frozenset({"euro", "dollar", "rouble", "yuan", "yen", "percent", "pound"})
_KINDS = ("duration", "money", "place", "contact")


@dataclass(frozen=True, slots=True)
class AnswerKinds:
    """`wants` are of number, date, name, duration, money, place and contact; none if the question does not say.

    `words` are the question's words that only say so, such as "cost": a price answers it without repeating them.
    """

    wants: frozenset[str]
    words: frozenset[str]
    data: LanguageData

    def strength(self, said: Analysed, text: str, asked: Iterable[str]) -> float:
        """1 for an answer of a kind that is asked for, 0.5 for what may be one, 0 for none."""
        new = [token for token in said.tokens if token.key not in asked]
        return max((self._strength(kind, new, said, text) for kind in self.wants), default=0.0)

    def _strength(self, kind: str, new: list[Token], said: Analysed, text: str) -> float:
        counted = any(token.kind == NUMBER for token in new)
        match kind:
            case "duration":
                timed = bool(_TIMES & measures_of(new)) or any(token.key.startswith("t") for token in new if counted)
                return 1.0 if timed else 0.0
            case "money":
                return 1.0 if counted and _SUMS & measures_of(new) else 0.0
            case "number":
                return 1.0 if counted else 0.0
            case "date":
                return _date_strength(new)
            case "name":
                named = any(token.case == NAME and token.kind != IDENTIFIER for token in new)
                return 1.0 if named or "·" in text else 0.0
            case "place" | "contact":
                return 1.0 if self.data.quoting[f"{kind}_words"].search(fold(text)) else 0.0
        return 0.0


def answer_kinds(question: str, data: LanguageData) -> AnswerKinds:
    lowered = fold(question)
    wants = set(read_question(question, data.code).wants)
    words: set[str] = set()
    for kind in _KINDS:
        if match := data.quoting[kind].search(lowered):
            wants.add(kind)
            if kind in ("money", "contact"):
                words |= {key for key, _weight in content_words(_last_word(match.group(), data))}
    if wants & {"duration", "money"}:
        wants.discard("number")
    if wants & {"place", "contact"}:
        wants.discard("name")
    return AnswerKinds(frozenset(wants), frozenset(words), data)


def _last_word(text: str, data: LanguageData) -> list[Token]:
    """The word that a pattern ends in: in "how much does a calibration cost" the calibration is what is asked about."""
    tokens = analyse(text, data).tokens
    return tokens[-2:] if data.code == "zh" else [token for token in tokens[-1:] if token.kind == WORD]


def _date_strength(new: list[Token]) -> float:
    if any(token.kind == CALENDAR or is_year_or_time(token) for token in new):
        return 1.0
    return 0.5 if _TIMES & measures_of(new) else 0.0


def is_year_or_time(token: Token) -> bool:
    return token.kind == NUMBER and (token.key.startswith("t") or (len(token.key) == 5 and token.key[1:].isdigit()))
