"""Which candidates enter the answer call, and the citation number of each record."""

from collections.abc import Sequence

from services.chat_api.domain.passages import Passage
from services.chat_api.domain.ranking import Candidate
from services.chat_api.domain.token_count import TokenCounter, estimate_tokens

_PASSAGE_OVERHEAD = 16


def pack(
    candidates: Sequence[Candidate], budget: int, *, at_most: int, count: TokenCounter = estimate_tokens
) -> tuple[Passage, ...]:
    """Most relevant first, whole or not at all. Numbers are given per record, in the order of first appearance."""
    packed: list[Passage] = []
    numbers: dict[str, int] = {}
    left = budget
    for candidate in candidates:
        if len(packed) == at_most:
            break
        cost = count(candidate.text) + count(candidate.title) + _PASSAGE_OVERHEAD
        if cost > left:
            continue
        left -= cost
        number = numbers.setdefault(candidate.record_id, len(numbers) + 1)
        packed.append(_passage(candidate, number))
    return tuple(packed)


def _passage(candidate: Candidate, number: int) -> Passage:
    return Passage(
        n=number,
        record_id=candidate.record_id,
        chunk_id=candidate.chunk_id,
        title=candidate.title,
        text=candidate.text,
        url=candidate.url,
        source_system=candidate.source_system,
        origin=candidate.origin,
    )
