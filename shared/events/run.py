"""One model call, as a trace: hashes and figures, never a payload."""

from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Literal
from uuid import UUID, uuid5

from shared.events.envelope import EVENT_NAMESPACE, Event
from shared.events.streams import TRACE_STREAM

RunOutcome = Literal["completed", "failed", "interrupted"]


class ModelRunTraced(Event):
    """Times are milliseconds; hashes are SHA-256 in hex over the request's and the answer's canonical bytes."""

    subject: ClassVar[str] = "achilles.trace.v1.run"
    stream: ClassVar[str] = TRACE_STREAM

    message_id: UUID
    conversation_id: UUID
    provider_call: int
    prompt_version_id: str
    provider: str
    model: str
    outcome: RunOutcome
    input_tokens: int
    cached_input_tokens: int = 0
    output_tokens: int
    estimated: bool
    latency_ms: int
    first_token_ms: int | None
    input_hash: str
    output_hash: str
    cost: Decimal | None = None
    currency: str | None = None

    @cached_property
    def event_id(self) -> UUID:
        return uuid5(EVENT_NAMESPACE, f"run:{self.message_id}:{self.provider_call}")
