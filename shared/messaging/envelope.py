"""CloudEvents 1.0 in binary mode on NATS headers, with a JSON body."""

from uuid import UUID

from nats.js.api import Header

from shared.events import Event
from shared.trace_context import trace_headers

CE_ID = "ce-id"
CE_TIME = "ce-time"


def headers_of(event: Event, *, source: str) -> dict[str, str]:
    """The headers that stay the same however often the event is sent."""
    return {
        CE_ID: str(event.event_id),
        "ce-source": source,
        "ce-type": event.subject,
        "ce-specversion": "1.0",
        CE_TIME: event.occurred_at.isoformat(),
        "ce-datacontenttype": "application/json",
        **trace_headers(),
    }


def with_message_id(headers: dict[str, str], event_id: UUID, epoch: int) -> dict[str, str]:
    """A new epoch is a new message for the broker, so that its duplicate window never swallows a resend."""
    return {**headers, Header.MSG_ID: f"{event_id}:{epoch}"}


def body_of(event: Event) -> bytes:
    return event.model_dump_json().encode()
