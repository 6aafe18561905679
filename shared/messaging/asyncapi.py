"""The AsyncAPI 3 document of the bus, made of the event classes and the streams."""

from functools import cache
from inspect import getdoc
from typing import Any

from nats.js.api import Header
from pydantic.json_schema import models_json_schema

from shared.events import EVENT_CLASSES, Event, KnowledgeChanged
from shared.events.streams import STREAMS, StreamSpec
from shared.messaging.envelope import CE_ID

Document = dict[str, Any]
_VERSION = "1.0.0"
_SCHEMAS = "#/components/schemas/"
# A front hears of these as well as sending them; everything else it only sends.
_HEARD = (KnowledgeChanged,)


@cache
def asyncapi_document() -> Document:
    """From the front's point of view, as AsyncAPI wants it: `send` is what it publishes, `receive` what it hears of."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Achilles events",
            "version": _VERSION,
            "description": (
                "Facts that leave the front, as CloudEvents 1.0 in binary mode over NATS JetStream. An event may "
                f"arrive more than once and in any order; `{CE_ID}` is the same each time."
            ),
        },
        "defaultContentType": "application/json",
        "channels": {event.__name__: _channel(event) for event in EVENT_CLASSES},
        "operations": {
            **{f"send{event.__name__}": _operation("send", event) for event in EVENT_CLASSES},
            **{f"receive{event.__name__}": _operation("receive", event) for event in _HEARD},
        },
        "components": {
            "messages": {event.__name__: _message(event) for event in EVENT_CLASSES},
            "schemas": _schemas(),
        },
        "x-streams": {spec.name: _stream(spec) for spec in STREAMS},
    }


def _channel(event: type[Event]) -> Document:
    return {
        "address": event.subject,
        "messages": {event.__name__: {"$ref": f"#/components/messages/{event.__name__}"}},
        "x-stream": event.stream,
    }


def _operation(action: str, event: type[Event]) -> Document:
    channel = f"#/channels/{event.__name__}"
    return {
        "action": action,
        "channel": {"$ref": channel},
        "messages": [{"$ref": f"{channel}/messages/{event.__name__}"}],
    }


def _message(event: type[Event]) -> Document:
    return {
        "name": event.__name__,
        "summary": (getdoc(event) or "").partition("\n\n")[0],
        "contentType": "application/json",
        "headers": _headers(event),
        "payload": {"$ref": _SCHEMAS + event.__name__},
    }


def _headers(event: type[Event]) -> Document:
    """As `shared.messaging.envelope` writes them, with what the relay adds."""
    return {
        "type": "object",
        "required": [CE_ID, "ce-source", "ce-type", "ce-specversion", "ce-time", "ce-datacontenttype"],
        "properties": {
            CE_ID: {"type": "string", "format": "uuid", "description": "The idempotency key of this fact"},
            "ce-source": {"type": "string"},
            "ce-type": {"const": event.subject},
            "ce-specversion": {"const": "1.0"},
            "ce-time": {"type": "string", "format": "date-time"},
            "ce-datacontenttype": {"const": "application/json"},
            Header.MSG_ID.value: {"type": "string", "description": f"{CE_ID} and how often it was sent"},
            "traceparent": {"type": "string", "description": "W3C trace context of the turn"},
            "tracestate": {"type": "string"},
        },
    }


def _schemas() -> Document:
    _, definitions = models_json_schema(
        [(event, "serialization") for event in EVENT_CLASSES], ref_template=f"{_SCHEMAS}{{model}}"
    )
    schemas: Document = definitions["$defs"]
    return schemas


def _stream(spec: StreamSpec) -> Document:
    """Ages in seconds."""
    return {
        "subjects": list(spec.subjects),
        "max_age": spec.max_age.total_seconds(),
        "max_bytes": spec.max_bytes,
        "duplicate_window": spec.duplicate_window.total_seconds(),
    }
