"""A canary goes the whole way of an event and changes no figure. One that does not arrive shows that a part stopped."""

from functools import cached_property
from typing import ClassVar
from uuid import UUID, uuid5

from shared.events.envelope import EVENT_NAMESPACE, Event
from shared.events.streams import SIGNAL_STREAM, TRACE_STREAM


class Canary(Event):
    """Sent by a front every half minute, at most one at a time for each stream."""

    @cached_property
    def event_id(self) -> UUID:
        return uuid5(EVENT_NAMESPACE, f"canary:{self.stream}:{self.occurred_at.isoformat()}")


class SignalCanary(Canary):
    subject: ClassVar[str] = "achilles.signal.v1.canary"
    stream: ClassVar[str] = SIGNAL_STREAM


class TraceCanary(Canary):
    subject: ClassVar[str] = "achilles.trace.v1.canary"
    stream: ClassVar[str] = TRACE_STREAM


CANARY_CLASSES: tuple[type[Canary], ...] = (SignalCanary, TraceCanary)
