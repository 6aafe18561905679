"""A citation points at the source record and keeps its best chunk as support."""

from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict

from services.chat_api.domain.grounding.release import Support
from services.chat_api.domain.passages import Passage, PassageOrigin


class Citation(BaseModel):
    """`n` is the number that stands in the text; `quote` is the sentence of the passage that supports it."""

    model_config = ConfigDict(frozen=True)

    n: int
    record_id: str
    chunk_id: str
    title: str
    url: str
    source_system: str
    quote: str
    origin: PassageOrigin = "knowledge"


def cite(
    passages: Sequence[Passage], cited: Sequence[int], support: Callable[[int], Support | None]
) -> tuple[Citation, ...]:
    """One citation per cited record, best first: packed passages arrive in the order of their relevance."""
    wanted = set(cited)
    citations: list[Citation] = []
    for passage in passages:
        if passage.n in wanted:
            wanted.discard(passage.n)
            citations.append(_citation(passage, support(passage.n)))
    return tuple(citations)


def _citation(passage: Passage, found: Support | None) -> Citation:
    return Citation(
        n=passage.n,
        record_id=passage.record_id,
        chunk_id=found.chunk_id if found else passage.chunk_id,
        title=passage.title,
        url=passage.url,
        source_system=passage.source_system,
        quote=found.quote if found else "",
        origin=passage.origin,
    )
