"""A source was used: cited in an answer, or opened by a click."""

from functools import cached_property
from typing import ClassVar, Literal
from uuid import UUID, uuid5

from shared.events.envelope import EVENT_NAMESPACE, Event
from shared.events.streams import SIGNAL_STREAM

AccessKind = Literal["cited", "clicked"]


class SourceAccessed(Event):
    """One record, one answer, one way of access. `click_id` is given by the client for each click, None when cited."""

    subject: ClassVar[str] = "achilles.signal.v1.accessed"
    stream: ClassVar[str] = SIGNAL_STREAM

    message_id: UUID
    conversation_id: UUID
    record_id: str
    source_system: str
    kind: AccessKind
    click_id: str | None = None

    @cached_property
    def event_id(self) -> UUID:
        return uuid5(EVENT_NAMESPACE, f"accessed:{self.message_id}:{self.record_id}:{self.kind}:{self.click_id or ''}")
