"""The store became empty, or stopped being empty."""

from functools import cached_property
from typing import ClassVar
from uuid import UUID, uuid5

from shared.events.envelope import EVENT_NAMESPACE, Event
from shared.events.streams import SIGNAL_STREAM


class KnowledgeChanged(Event):
    """Announced by the store, or by a front that saw a newer status. Applied only if the version is greater."""

    subject: ClassVar[str] = "achilles.signal.v1.knowledge"
    stream: ClassVar[str] = SIGNAL_STREAM

    store_id: str
    knowledge_version: int
    is_empty: bool

    @cached_property
    def event_id(self) -> UUID:
        return uuid5(EVENT_NAMESPACE, f"knowledge:{self.store_id}:{self.knowledge_version}")
