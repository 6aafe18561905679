"""Reciprocal rank fusion: the order of the hits comes from two rankings, not from two scores that do not compare."""

from collections.abc import Iterable

from services.knowledge_store.domain.candidates import Candidate

RRF_K = 60


def rrf_score(ranks: Iterable[int | None]) -> float:
    """The sum of 1 / (60 + rank) over the legs that found the candidate; ranks count from 1."""
    return sum(1.0 / (RRF_K + rank) for rank in ranks if rank is not None)


def fuse(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first; equal scores in the order of (record_id, chunk_id), so that any input order gives the same list."""
    return sorted(
        candidates,
        key=lambda c: (-rrf_score((c.lexical_rank, c.semantic_rank)), c.record_id, c.chunk_id),
    )
