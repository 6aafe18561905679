"""Recall and the errors of the floor, asked through the running search."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.knowledge_store.xquad import Question
from shared.identity import Identity
from shared.knowledge_contract import SearchResponse

Search = Callable[[str, Identity | None], Awaitable[SearchResponse]]
# The record ids of the candidates in fused order, before any floor.
Ranking = Callable[[str, Identity], Awaitable[list[str]]]

READER = Identity(user_id="reader", display_name="Reader", groups=("readers",))
STRANGER = Identity(user_id="stranger", display_name="Stranger", groups=("strangers",))


@dataclass(frozen=True, slots=True)
class FloorFigures:
    """Shares of questions. Of the answerable ones: `recall_at_5` (the passage among the first five of the fused order),
    `found_at_5` (and the floor let it through), `refused` (no hit), `hint_missed` (a stranger gets no hint). Of the
    others: `answered`, `false_hints`."""

    answerable: int
    unanswerable: int
    recall_at_5: float
    found_at_5: float
    refused: float
    answered: float
    hint_missed: float
    false_hints: float


async def measure_floor(
    search: Search, rank: Ranking, questions: Sequence[Question], parity: int, indexed: tuple[str, ...]
) -> FloorFigures:
    """Ask every question as one who may read everything, and as one who may read nothing."""
    answerable = [question for question in questions if question.article % 2 == parity]
    unanswerable = [question for question in questions if question.article % 2 != parity]
    right = [await search(question.text, READER) for question in answerable]
    wrong = [await search(question.text, READER) for question in unanswerable]
    hints = [await search(question.text, STRANGER) for question in answerable]
    false_hints = [await search(question.text, STRANGER) for question in unanswerable]
    return FloorFigures(
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        recall_at_5=_share([_is_among(q, (await rank(q.text, READER))[:5], indexed) for q in answerable]),
        found_at_5=_share(
            _is_among(q, [hit.record_id for hit in found.hits[:5]], indexed)
            for q, found in zip(answerable, right, strict=True)
        ),
        refused=_share(found.outcome == "empty" for found in right),
        answered=_share(found.outcome != "empty" for found in wrong),
        hint_missed=_share(found.outcome == "empty" for found in hints),
        false_hints=_share(found.outcome != "empty" for found in false_hints),
    )


def _is_among(question: Question, record_ids: Sequence[str], indexed: tuple[str, ...]) -> bool:
    """The passage itself, or its translation where the question's language is not indexed (or is one of several)."""
    names = {f"{language}{question.file[len(question.language) :]}" for language in indexed}
    return any(record_id.partition("/")[2] in names for record_id in record_ids)


def _share(outcomes: Iterable[bool]) -> float:
    values = list(outcomes)
    return sum(values) / len(values) if values else 0.0
