"""How much of the sentence's content the evidence holds, as a whole and clause by clause."""

from dataclasses import dataclass

from services.chat_api.domain.grounding.alignment import UNMATCHED
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.release import RejectionReason
from services.chat_api.domain.grounding.tokens import HANCHAR

COVERAGE = 0.7
NEW_COVERAGE = 0.6
# Who repeats the question word for word quotes: nearly every word of the answer is then the passage's too.
ECHO_COVERAGE = 0.9
CLAUSE_COVERAGE = 0.5
_LONGEST_GAP = 3.0


@dataclass(slots=True)
class _Tally:
    matched: float = 0.0
    total: float = 0.0

    def add(self, amount: float, *, matched: bool) -> None:
        self.total += amount
        if matched:
            self.matched += amount

    @property
    def share(self) -> float:
        return self.matched / self.total if self.total else 1.0


def _share(held: Comparison) -> float:
    matched = sum(token.weight for i, token in enumerate(held.tokens) if held.at[i] != UNMATCHED)
    return matched / sum(token.weight for token in held.tokens)


def _unmatched(clause: _Tally) -> bool:
    return clause.total >= 1.0 and clause.share < (CLAUSE_COVERAGE if clause.total >= 1.5 else 0.1)


def check_coverage(held: Comparison) -> tuple[RejectionReason | None, float]:
    """The reason to drop, if any, and the share covered (0..1).

    The question's words are neutral: unmatched they count neither way. What the sentence adds to them is judged apart,
    so that a question repeated with a wrong answer does not pass on its own words.
    """
    if UNMATCHED not in held.at:
        return (None if held.placed else RejectionReason.LOW_COVERAGE), 1.0
    whole, new = _Tally(), _Tally()
    clauses: dict[int, _Tally] = {}
    gap = 0.0
    # After the question itself, its words are no longer the asker's: "Which ward was founded in 1874: Elm was founded
    # in 1874" claims it.
    neutral = not held.after_echo and any(not held.asked(token.key) for token in held.tokens)
    for i, token in enumerate(held.tokens):
        amount = token.weight
        found = held.at[i] != UNMATCHED
        matched = found or held.in_context(token.key)
        asked = held.asked(token.key)
        if not matched and ((asked and neutral) or token.framing):
            continue
        gap = 0.0 if matched else gap + (0.6 if token.kind == HANCHAR else 1.0)
        if gap >= _LONGEST_GAP:
            return RejectionReason.UNMATCHED_CLAUSE, _share(held)
        whole.add(amount, matched=matched)
        clauses.setdefault(token.clause, _Tally()).add(amount, matched=matched)
        if not asked:
            new.add(amount, matched=found)
    if (
        whole.share < (ECHO_COVERAGE if held.after_echo else COVERAGE)
        or not held.placed
        or (new.total and new.share < NEW_COVERAGE)
    ):
        return RejectionReason.LOW_COVERAGE, whole.share
    if any(_unmatched(clause) for clause in clauses.values()):
        return RejectionReason.UNMATCHED_CLAUSE, whole.share
    return None, whole.share
