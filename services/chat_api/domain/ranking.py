"""One order for the candidates of several tools: reciprocal rank fusion over the ranks that they came with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.chat_api.domain.passages import PassageOrigin

RRF_K = 60
_ORIGIN_ORDER: dict[PassageOrigin, int] = {"knowledge": 0, "web": 1}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A retrieved chunk before packing. `rank` counts from 1 within its tool."""

    record_id: str
    chunk_id: str
    title: str
    text: str
    url: str
    source_system: str
    rank: int
    origin: PassageOrigin = "knowledge"
    updated_at: datetime | None = None


def merge_ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first, the same for any input order: by RRF score, then knowledge before web, then ids."""
    return sorted(
        candidates,
        key=lambda one: (-1 / (RRF_K + one.rank), _ORIGIN_ORDER[one.origin], one.record_id, one.chunk_id),
    )
