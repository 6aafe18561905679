"""`GET /api/v1/access-signals?after=`: how a Knowledge Store catches up with what the bus did not bring it.

Oldest first, in the order in which the accesses were written down. The caller shows its service token as a bearer
token. An event may come twice, here and on the bus: `id` is the event's own id in both places.
"""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from shared.events.accessed import AccessKind

ACCESS_SIGNALS_PATH = "/api/v1/access-signals"


class AccessSignal(BaseModel):
    """A use of a record. Who used it, and in which conversation, is nobody's business here."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: UUID
    record_id: str
    source_system: str
    kind: AccessKind
    occurred_at: datetime
    applied_at: datetime


class AccessSignalList(BaseModel):
    model_config = ConfigDict(frozen=True)

    object: Literal["list"] = "list"
    data: tuple[AccessSignal, ...]
    first_id: UUID | None
    last_id: UUID | None
    has_more: bool
