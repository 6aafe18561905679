"""Quoting instead of answering: the sentences of the packed passages that fit the question best.

Used when no model is configured, and when the gate has held back every sentence of one. Deterministic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.chat_api.domain.grounding.evidence import Evidence, PreparedPassage, prepare_passage
from services.chat_api.domain.grounding.foreign_quotes import foreign_lead
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.grounding.markup import plain
from services.chat_api.domain.grounding.outdated import is_outdated
from services.chat_api.domain.grounding.quote_scoring import Fit, QuestionFit
from services.chat_api.domain.passages import Passage

_NEAR_BEST = 0.8
_AS_GOOD = 0.88
_SAME = 0.8
_SHORT_ITEM = 60


@dataclass(frozen=True, slots=True)
class Quote:
    """`text` is one or more sentences of the chunk, verbatim but for list and table marks."""

    n: int
    chunk_id: str
    text: str


@dataclass(frozen=True, slots=True)
class _Scored:
    """`order` are the ranks of passage and sentence; `before` is the sentence that it goes on from, if it does."""

    fit: Fit
    passage: Passage
    evidence: Evidence
    order: tuple[int, int]
    outdated: bool
    before: Evidence | None


def best_quotes(question: str, passages: Sequence[Passage], limit: int = 3) -> list[Quote]:
    """Best first, at most `limit`, no near-duplicates; `[]` when nothing is quotable.

    A quote far under the best is left out: one good sentence is better than three weak ones. Passages in another
    language than the question are quoted only if none in its own language is quotable: their first sentences, where
    they share numbers, identifiers or names with it.
    """
    code = detect_language(question)
    prepared = [(passage, prepare_passage(passage.text, passage.title)) for passage in passages]
    own = [(passage, ready) for passage, ready in prepared if ready.data.code == code]
    asked = QuestionFit(question, load_language(code), [ready for _passage, ready in own])
    scored = [
        _Scored(fit, passage, ready.sentences[number], (rank, number), outdated, _before(ready, number, fit))
        for rank, (passage, ready) in enumerate(own)
        for outdated in [is_outdated(passage, ready, question)]
        for number, fit in asked.fits(ready, rank)
    ]
    chosen = _choose([one for one in scored if one.fit.sure], limit)
    if chosen:
        return [Quote(entry.passage.n, entry.passage.chunk_id, _shown_whole(entry)) for entry in chosen]
    return _foreign_quotes(question, [pair for pair in prepared if pair[1].data.code != code])


def _before(ready: PreparedPassage, number: int, fit: Fit) -> Evidence | None:
    """A sentence such as "It is closed on Sundays" needs what "it" is, unless it holds what is asked for itself."""
    evidence = ready.sentences[number]
    if number == 0 or fit.kind or not evidence.said.pronoun or not _is_prose(evidence):
        return None
    before = ready.sentences[number - 1]
    return before if _is_prose(before) else None


def _is_prose(evidence: Evidence) -> bool:
    return not (evidence.table or evidence.quoted or evidence.heading) and bool(evidence.said.tokens)


def _choose(scored: list[_Scored], limit: int) -> list[_Scored]:
    ranked = sorted(scored, key=lambda entry: (entry.outdated, -entry.fit.score, entry.order))
    chosen: list[_Scored] = []
    for entry in ranked:
        if len(chosen) == limit or entry.fit.score < _NEAR_BEST * ranked[0].fit.score:
            break
        if not any(_alike(entry.evidence, other.evidence) for other in chosen) and _adds(entry.fit, chosen):
            chosen.append(entry)
    return chosen


def _adds(fit: Fit, chosen: list[_Scored]) -> bool:
    """Whether a further quote meets more of the question, or is as good as the best one."""
    if not chosen:
        return True
    met = frozenset().union(*(entry.fit.keys for entry in chosen))
    return not fit.keys <= met or fit.score >= _AS_GOOD * chosen[0].fit.score


def _alike(left: Evidence, right: Evidence) -> bool:
    ours, theirs = left.said.positions.keys(), right.said.positions.keys()
    return len(ours & theirs) >= _SAME * min(len(ours), len(theirs))


def _shown_whole(entry: _Scored) -> str:
    said = _shown(entry.evidence)
    return f"{_shown(entry.before)} {said}" if entry.before else said


def _shown(evidence: Evidence) -> str:
    text = " ".join(plain(evidence.text).split())
    if evidence.heading and len(text) < _SHORT_ITEM and not evidence.table:
        heading = evidence.heading.rpartition(" > ")[2]
        return f"{heading.rstrip(':： ')}: {text}"
    return text


def _foreign_quotes(question: str, prepared: list[tuple[Passage, PreparedPassage]]) -> list[Quote]:
    found = foreign_lead(question, [ready for _passage, ready in prepared])
    if found is None:
        return []
    at, lead = found
    passage = prepared[at][0]
    return [Quote(passage.n, passage.chunk_id, " ".join(_shown(evidence) for evidence in lead))]
