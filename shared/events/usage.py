"""What one model call used."""

from decimal import Decimal
from functools import cached_property
from typing import ClassVar
from uuid import UUID, uuid5

from shared.events.envelope import EVENT_NAMESPACE, Event
from shared.events.streams import SIGNAL_STREAM


class UsageRecorded(Event):
    """Tokens of one provider call. Calls of a message count from 1, so call 1 stands for the answer.

    Tokens read from a cache and written to one are parts of the input, reasoning is part of the output. `cost` None
    means that the price is unknown; 0 means that it is known to be nothing.
    """

    subject: ClassVar[str] = "achilles.signal.v1.usage"
    stream: ClassVar[str] = SIGNAL_STREAM

    message_id: UUID
    provider_call: int
    user_id: str
    department: str | None
    provider: str
    model: str
    input_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int
    reasoning_tokens: int = 0
    estimated: bool
    cost: Decimal | None = None
    currency: str | None = None

    @cached_property
    def event_id(self) -> UUID:
        return uuid5(EVENT_NAMESPACE, f"usage:{self.message_id}:{self.provider_call}")
