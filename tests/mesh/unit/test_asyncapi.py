"""The AsyncAPI document describes every event as it is really sent."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from shared.events import EVENT_BY_SUBJECT, EVENT_CLASSES, Event
from shared.events.streams import STREAMS, stream_of
from shared.messaging.asyncapi import asyncapi_document
from shared.messaging.envelope import headers_of, with_message_id
from shared.trace_context import trace_of

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_GOLDEN = sorted((Path(__file__).parents[2] / "data" / "events").glob("*.json"))
_REFERENCE = {"type": "object", "required": ["$ref"], "additionalProperties": False, "properties": {"$ref": {}}}
# What AsyncAPI 3.0.0 says of the parts that we use; unknown fields must begin with `x-`.
_STRUCTURE = {
    "type": "object",
    "required": ["asyncapi", "info"],
    "additionalProperties": False,
    "patternProperties": {"^x-": {}},
    "properties": {
        "asyncapi": {"const": "3.0.0"},
        "info": {
            "required": ["title", "version"],
            "additionalProperties": False,
            "properties": {"title": {"type": "string"}, "version": {"type": "string"}, "description": {}},
        },
        "defaultContentType": {"type": "string"},
        "channels": {
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "patternProperties": {"^x-": {}},
                "properties": {
                    "address": {"type": "string"},
                    "messages": {"type": "object", "additionalProperties": _REFERENCE},
                },
            }
        },
        "operations": {
            "additionalProperties": {
                "type": "object",
                "required": ["action", "channel"],
                "additionalProperties": False,
                "properties": {
                    "action": {"enum": ["send", "receive"]},
                    "channel": _REFERENCE,
                    "messages": {"type": "array", "items": _REFERENCE},
                },
            }
        },
        "components": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "messages": {
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            "name": {"type": "string"},
                            "summary": {"type": "string", "minLength": 1},
                            "contentType": {"type": "string"},
                            "headers": {"type": "object", "required": ["type"]},
                            "payload": {"type": "object"},
                        },
                    }
                },
                "schemas": {"additionalProperties": {"type": "object"}},
            },
        },
    },
}


@pytest.fixture
def document() -> dict[str, Any]:
    """As a client receives it."""
    read: dict[str, Any] = json.loads(json.dumps(asyncapi_document()))
    return read


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def _resolve(document: dict[str, Any], reference: str) -> Any:
    found: Any = document
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found


def test_the_document_has_the_structure_of_asyncapi_3(document: dict[str, Any]) -> None:
    jsonschema_rs.validate(_STRUCTURE, document)
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema)
    references = list(_references(document))
    assert references
    for reference in references:
        assert _resolve(document, reference) is not None
    names = {channel.rpartition("/")[2] for channel in references if channel.startswith("#/channels")}
    assert names == set(document["channels"])


@pytest.mark.parametrize("event", EVENT_CLASSES)
def test_every_event_class_is_in_it_with_subject_stream_and_schema(
    document: dict[str, Any], event: type[Event]
) -> None:
    channel = document["channels"][event.__name__]
    assert (channel["address"], channel["x-stream"]) == (event.subject, stream_of(event.subject))
    message = _resolve(document, channel["messages"][event.__name__]["$ref"])
    assert message["headers"]["properties"]["ce-type"] == {"const": event.subject}
    assert set(_resolve(document, message["payload"]["$ref"])["properties"]) == set(event.model_fields)
    assert document["operations"][f"send{event.__name__}"]["action"] == "send"


def test_nothing_else_is_in_it(document: dict[str, Any]) -> None:
    assert {channel["address"] for channel in document["channels"].values()} == set(EVENT_BY_SUBJECT)
    assert set(document["x-streams"]) == {spec.name for spec in STREAMS}


@pytest.mark.parametrize("file", _GOLDEN, ids=lambda file: file.stem)
def test_what_is_sent_fits_its_description(document: dict[str, Any], file: Path) -> None:
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = EVENT_BY_SUBJECT[golden["subject"]].model_validate(golden["body"])
    message = document["components"]["messages"][type(event).__name__]
    with trace_of({}):
        headers = with_message_id(headers_of(event, source="chat_api"), event.event_id, 1)
    jsonschema_rs.validate({**message["headers"], "additionalProperties": False}, headers)
    payload = {**message["payload"], "components": document["components"]}
    body = json.loads(event.model_dump_json())
    jsonschema_rs.validate(payload, body)
    assert not jsonschema_rs.is_valid(payload, {**body, "occurred_at": None})
