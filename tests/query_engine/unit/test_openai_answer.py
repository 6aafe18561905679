"""Turn events become text, annotations and chunks of the OpenAI API."""

import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint, HintSource
from services.chat_api.domain.marker_positions import marker_positions
from services.chat_api.domain.turn_events import (
    AnswerDelta,
    HintGiven,
    Notice,
    NoticeCode,
    SourcesCited,
    TokenUsage,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from services.chat_api.http.openai_answer import OpenAiAnswer
from services.chat_api.http.openai_stream import OpenAiChunks

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_CONVERSATION, _MESSAGE = UUID(int=2), UUID(int=1)
_HINT = Hint(text="Something exists.", withheld=(HintSource(source_system="HR"),))


def _citation(n: int = 1, *, url: str = "/sources/a.md", title: str = "A") -> Citation:
    return Citation(n=n, record_id="a.md", chunk_id="a.md#1", title=title, url=url, source_system="H", quote="Q.")


def _answer(*events: TurnEvent, source_links: bool = False) -> OpenAiAnswer:
    answer = OpenAiAnswer(_CONVERSATION, _MESSAGE, "https://achilles.example/", source_links=source_links)
    for event in events:
        answer.feed(event)
    return answer


def _chunks(*events: TurnEvent, include_usage: bool = False) -> list[str]:
    chunks = OpenAiChunks(_answer(), created=7, include_usage=include_usage)
    lines = b"".join(frame for event in events for frame in chunks.encode(event)).decode().split("\n\n")
    return [line.removeprefix("data: ") for line in lines if line]


_FINISHED = TurnFinished("grounded", "m-1", 12, TokenUsage(10, 2))


def test_positions_count_characters_not_bytes() -> None:
    text = "Отпуск 🙂 28 дней [1][2]. Code `a[1]`, [1](link) and [9]."
    found = [(at.n, text[at.start : at.end]) for at in marker_positions(text, {1, 2})]
    assert found == [(1, "[1]"), (2, "[2]")]


@given(st.text(alphabet="a1[]( )`\n[2"), st.sets(st.integers(min_value=0, max_value=3)))
def test_every_position_is_that_of_a_cited_marker(text: str, cited: set[int]) -> None:
    for at in marker_positions(text, cited):
        assert text[at.start : at.end] == f"[{text[at.start + 1 : at.end - 1]}]"
        assert at.n in cited


def test_an_annotation_has_an_absolute_address() -> None:
    events = (
        AnswerDelta("28 days [1] or so [2]."),
        SourcesCited((_citation(), _citation(2, url="https://w.example/x"))),
    )
    urls = [one.url_citation.url for one in _answer(*events).annotations]
    assert urls == ["https://achilles.example/sources/a.md", "https://w.example/x"]


def test_an_address_that_is_none_of_the_web_is_not_handed_on() -> None:
    events = (AnswerDelta("28 days [1]."), SourcesCited((_citation(url="javascript:alert(1)"),)), _FINISHED)
    answer = _answer(*events, source_links=True)
    assert (answer.annotations, answer.text) == ((), "28 days [1].")


def test_links_cannot_be_broken_out_of() -> None:
    source = _citation(url="/sources/a (1) <b>.md", title="A](https://evil.example) [x\n# Y")
    answer = _answer(AnswerDelta("28 days [1]."), SourcesCited((source,)), _FINISHED, source_links=True)
    line = answer.text.rpartition("\n")[2]
    assert line == (
        "- [1] [A\\](https://evil.example) \\[x # Y](https://achilles.example/sources/a%20%281%29%20%3Cb%3E.md)"
    )
    assert len(answer.annotations) == 1, "the appended list is no part of the answer"


def test_a_hint_that_is_the_answer_is_not_told_twice() -> None:
    assert _answer(AnswerDelta(_HINT.text), HintGiven(_HINT)).text == _HINT.text
    assert _answer(AnswerDelta("28 days [1]."), HintGiven(_HINT)).text == f"28 days [1].\n\n{_HINT.text}"


def test_chunks_carry_ids_first_and_the_outcome_last() -> None:
    started = TurnStarted(_MESSAGE, _CONVERSATION, "m-0")
    *lines, usage, done = _chunks(started, AnswerDelta("28 days."), HintGiven(_HINT), _FINISHED, include_usage=True)
    chunks = [json.loads(line) for line in lines]
    assert done == "[DONE]"
    assert json.loads(usage)["usage"] == {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    assert chunks[0]["achilles"] == {"conversation_id": str(_CONVERSATION), "message_id": str(_MESSAGE)}
    assert chunks[0]["choices"] == [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]
    assert [chunk["choices"][0]["delta"] for chunk in chunks[1:]] == [
        {"content": "28 days."},
        {"content": f"\n\n{_HINT.text}"},
        {},
    ]
    assert (chunks[-1]["choices"][0]["finish_reason"], chunks[-1]["model"]) == ("stop", "m-1")
    assert chunks[-1]["achilles"]["hint"]["withheld"] == [{"source_system": "HR"}]
    assert {chunk["created"] for chunk in chunks} == {7}


def test_a_failure_ends_with_an_error_and_a_stop_with_its_reason() -> None:
    *_, failed = _chunks(AnswerDelta("Half"), TurnFailed("model_unavailable", "Sorry.", retryable=True))
    assert json.loads(failed)["error"] == {
        "message": "Sorry.",
        "type": "server_error",
        "param": None,
        "code": "model_unavailable",
    }
    *_, stopped, done = _chunks(AnswerDelta("Half"), TurnInterrupted())
    assert json.loads(stopped)["choices"][0]["finish_reason"] == "length"
    assert json.loads(stopped)["achilles"]["outcome"] == "interrupted"
    assert done == "[DONE]"


@pytest.mark.req("ROUTE-11")
@pytest.mark.parametrize(
    ("code", "is_told"), [("source_unreachable", True), ("conversational", True), ("quoted", False)]
)
def test_what_a_reader_must_know_stands_in_the_text(code: NoticeCode, is_told: bool) -> None:
    answer = _answer(Notice(code, "The web could not be reached."), AnswerDelta("Leave is 28 days."), _FINISHED)
    assert answer.text == "Leave is 28 days." + ("\n\n_The web could not be reached._" if is_told else "")
