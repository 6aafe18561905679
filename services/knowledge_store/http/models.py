"""Bodies of `/v1/record`; those of `/v1/search` and `/v1/status` stand in the shared contract."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from services.knowledge_store.domain.records import Record
from shared.identity import Identity


class RecordRequest(BaseModel):
    """`identity` absent means an anonymous caller."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    record_id: str = Field(min_length=1, max_length=2_000)
    identity: Identity | None = None


class RecordResponse(BaseModel):
    """The whole document as plain text or Markdown."""

    model_config = ConfigDict(frozen=True)

    record_id: str
    title: str
    text: str
    media_type: Literal["text/markdown", "text/plain"]
    source_system: str
    url: str
    updated_at: datetime

    @classmethod
    def from_record(cls, record: Record) -> "RecordResponse":
        return cls.model_validate(
            {
                "record_id": record.record_id,
                "title": record.coordinates.title,
                "text": record.text,
                "media_type": record.media_type,
                "source_system": record.coordinates.source_system,
                "url": record.coordinates.url,
                "updated_at": record.updated_at,
            }
        )
