"""Turn events become the AI SDK's frames."""

import json
from uuid import UUID

import pytest

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.turn_events import (
    AnswerDelta,
    SourcesCited,
    StageReached,
    TokenUsage,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from services.chat_api.http.ui_stream import UiStream

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_CITATION = Citation(
    n=1, record_id="a.md", chunk_id="a.md#1", title="A", url="/sources/a.md", source_system="Handbook", quote="Q."
)


def _lines(*events: TurnEvent) -> list[str]:
    stream = UiStream()
    frames = b"".join(frame for event in events for frame in stream.encode(event))
    assert frames.endswith(b"\n\n")
    return [line.removeprefix("data: ") for line in frames.decode().split("\n\n") if line]


def _types(*events: TurnEvent) -> list[str]:
    return [line if line == "[DONE]" else json.loads(line)["type"] for line in _lines(*events)]


def test_sources_come_after_the_text_and_before_the_end() -> None:
    types = _types(
        TurnStarted(UUID(int=1), UUID(int=2), "m"),
        StageReached("answering"),
        AnswerDelta("28 days [1]."),
        AnswerDelta(" More."),
        SourcesCited((_CITATION,)),
        TurnFinished("grounded", "m", 12, TokenUsage(10, 2)),
    )
    assert types == [
        *("start", "data-status", "text-start", "text-delta", "text-delta", "text-end"),
        *("source-document", "data-citation", "message-metadata", "finish", "[DONE]"),
    ]


def test_a_failure_closes_the_text_and_ends_the_stream() -> None:
    types = _types(AnswerDelta("Half"), TurnFailed("model_unavailable", "Sorry.", retryable=True))
    assert types == ["text-start", "text-delta", "text-end", "data-error", "error", "[DONE]"]


def test_an_interruption_is_an_abort() -> None:
    assert _types(AnswerDelta("Half"), TurnInterrupted()) == ["text-start", "text-delta", "text-end", "abort", "[DONE]"]


def test_text_with_line_breaks_stays_one_data_line() -> None:
    delta = json.loads(_lines(AnswerDelta("one\n\ntwo \u2028 三"))[1])
    assert delta["delta"] == "one\n\ntwo \u2028 三"
