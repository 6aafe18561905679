"""What every event has in common: its place on the bus, its version and its deduplication id."""

from abc import abstractmethod
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict

EVENT_NAMESPACE = UUID("6f2b0c1e-6d0f-5a3e-9a57-1c8f0c7f3b5d")


class Event(BaseModel):
    """A fact that leaves the front. Subclasses name their subject and stream once; no call site writes a string.

    `occurred_at` is UTC. `event_id` is derived from the event's own key, so the same fact always has the same id.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    subject: ClassVar[str]
    stream: ClassVar[str]

    occurred_at: datetime

    @property
    @abstractmethod
    def event_id(self) -> UUID:
        """The idempotency key of this fact (docs/spec/mesh.md, table of events). A copy with other fields must not be
        made by `model_copy`, which would keep the key."""
