"""Events of every version that was ever sent must still be read, with the ids that they had."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from shared.events import EVENT_BY_SUBJECT, EVENT_CLASSES, Event
from shared.messaging.envelope import headers_of, with_message_id

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_GOLDEN = Path(__file__).parents[2] / "data" / "events"
_FILES = sorted(_GOLDEN.glob("*.json"))


def _event(golden: dict[str, object]) -> Event:
    return EVENT_BY_SUBJECT[str(golden["subject"])].model_validate(golden["body"])


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_golden_event_is_read_with_its_id(file: Path) -> None:
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = _event(golden)
    assert event.event_id == UUID(golden["event_id"])
    assert type(event).model_validate_json(event.model_dump_json()) == event


def test_every_event_class_has_a_golden_file() -> None:
    golden = {json.loads(file.read_text(encoding="utf-8"))["subject"] for file in _FILES}
    assert golden == {event.subject for event in EVENT_CLASSES}


def test_the_message_id_moves_with_the_epoch_and_the_event_id_does_not() -> None:
    event = _event(json.loads(_FILES[0].read_text(encoding="utf-8")))
    headers = headers_of(event, source="chat_api")
    first = with_message_id(headers, event.event_id, 1)
    second = with_message_id(headers, event.event_id, 2)
    assert first["Nats-Msg-Id"] != second["Nats-Msg-Id"]
    assert first["ce-id"] == second["ce-id"] == str(event.event_id)
    assert (first["ce-specversion"], first["ce-type"]) == ("1.0", event.subject)
