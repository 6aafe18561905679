"""From candidates to the answer of a search: what is shown, what is only hinted at, or nothing."""

import math
from collections.abc import Mapping, Sequence

from services.knowledge_store.domain.candidates import Candidate, Question
from services.knowledge_store.domain.fusion import NO_TRUST, fuse
from services.knowledge_store.domain.relevance import (
    ANSWER_FLOOR,
    COMPANION_FLOOR,
    HINT_FLOOR,
    HINT_MARGIN,
    log_odds,
    relevance,
)
from shared.knowledge_contract import SearchOutcome


def select_hits(
    question: Question, readable: Sequence[Candidate], top_k: int, trust: Mapping[str, float] = NO_TRUST
) -> list[Candidate]:
    """The best chunks in fused order: nothing without one above the floor; beside one, weaker ones may stand.

    Trust orders what is relevant. It makes nothing relevant.
    """
    if not any(relevance(question, candidate) >= ANSWER_FLOOR for candidate in readable):
        return []
    return [c for c in fuse(readable, trust) if relevance(question, c) >= COMPANION_FLOOR][:top_k]


def select_withheld(
    question: Question, unreadable: Sequence[Candidate], readable: Sequence[Candidate] = ()
) -> set[str]:
    """The ids of the records worth a hint: each has to pass the floor by itself, and to hold its own beside the best
    chunk that may be read."""
    best = max((log_odds(question, candidate) for candidate in readable), default=-math.inf)
    return {
        c.record_id
        for c in unreadable
        if relevance(question, c) >= HINT_FLOOR and log_odds(question, c) >= best - HINT_MARGIN
    }


def name_outcome(*, has_hits: bool, has_withheld: bool) -> SearchOutcome:
    if has_hits:
        return "mixed" if has_withheld else "hits"
    return "withheld" if has_withheld else "empty"
