"""What one turn retrieved and what became of it."""

from functools import cached_property
from typing import ClassVar, Literal
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

from shared.events.envelope import EVENT_NAMESPACE, Event
from shared.events.streams import TRACE_STREAM

RetrievalOutcome = Literal["hits", "empty", "withheld", "mixed", "failed"]


class Candidate(BaseModel):
    model_config = ConfigDict(frozen=True)

    record_id: str
    chunk_id: str
    rank: int


class RejectedSentence(BaseModel):
    """`sentence_hash` is SHA-256 in hex: the sentence itself is never kept."""

    model_config = ConfigDict(frozen=True)

    sentence_hash: str
    reason: str
    cited: tuple[int, ...]


class RetrievalTraced(Event):
    """The standalone query lives as long as its conversation; passage text is never part of the trace."""

    subject: ClassVar[str] = "achilles.trace.v1.retrieved"
    stream: ClassVar[str] = TRACE_STREAM

    message_id: UUID
    conversation_id: UUID
    query: str
    outcome: RetrievalOutcome
    store_id: str | None
    knowledge_version: int | None
    cache_hit: bool
    fault: str | None = None
    candidates: tuple[Candidate, ...] = ()
    packed: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    rejected: tuple[RejectedSentence, ...] = ()
    notes: tuple[str, ...] = ()
    timings_ms: dict[str, int] = Field(default_factory=dict)

    @cached_property
    def event_id(self) -> UUID:
        return uuid5(EVENT_NAMESPACE, f"retrieved:{self.message_id}")
