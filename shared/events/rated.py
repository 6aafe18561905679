"""An answer was rated."""

from functools import cached_property
from typing import ClassVar, Literal
from uuid import UUID, uuid5

from shared.events.envelope import EVENT_NAMESPACE, Event
from shared.events.streams import SIGNAL_STREAM


class AnswerRated(Event):
    """`revision` is given by the front and grows; the highest one wins. `value` None takes a rating back."""

    subject: ClassVar[str] = "achilles.signal.v1.rated"
    stream: ClassVar[str] = SIGNAL_STREAM

    message_id: UUID
    conversation_id: UUID
    value: Literal[-1, 1] | None
    revision: int

    @cached_property
    def event_id(self) -> UUID:
        return uuid5(EVENT_NAMESPACE, f"rated:{self.message_id}:{self.revision}")
