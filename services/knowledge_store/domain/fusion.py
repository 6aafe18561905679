"""Reciprocal rank fusion: the order of the hits comes from two rankings, not from two scores that do not compare."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from services.knowledge_store.domain.candidates import Candidate

RRF_K = 60
# A little more than lies between the first and the second place in both legs. So of two records that say the same the
# more used one comes first, and one that both legs put two places behind the first stays behind it.
MAX_TRUST_BONUS = 2.4 * (1.0 / (RRF_K + 1) - 1.0 / (RRF_K + 2))
# The trust that earns half the bonus: ten fresh citations, for instance.
HALF_BONUS_TRUST = 10.0
NO_TRUST: Mapping[str, float] = MappingProxyType({})


def rrf_score(ranks: Iterable[int | None]) -> float:
    """The sum of 1 / (60 + rank) over the legs that found the candidate; ranks count from 1."""
    return sum(1.0 / (RRF_K + rank) for rank in ranks if rank is not None)


def trust_bonus(trust: float) -> float:
    """Between 0 for a record that nobody uses and nearly MAX_TRUST_BONUS for one that everybody does."""
    return MAX_TRUST_BONUS * trust / (trust + HALF_BONUS_TRUST) if trust > 0 else 0.0


def fuse(candidates: Iterable[Candidate], trust: Mapping[str, float] = NO_TRUST) -> list[Candidate]:
    """Best first; equal scores in the order of (record_id, chunk_id), so that any input order gives the same list.

    `trust` by record id decides between near neighbours.
    """
    return sorted(
        candidates,
        key=lambda c: (
            -rrf_score((c.lexical_rank, c.semantic_rank)) - trust_bonus(trust.get(c.record_id, 0.0)),
            c.record_id,
            c.chunk_id,
        ),
    )
