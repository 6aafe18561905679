"""Bytes of a provider's stream, in any split."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.adapters.model_faults import ModelStreamBrokenError, ModelUnavailableError
from services.chat_api.adapters.openai_stream import OpenAiStream
from services.chat_api.domain.model_call import ModelChunk, ModelReported, ModelUsage, TextDelta, ToolCallDelta

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def _event(**body: object) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


_STREAM = (
    b": comment\n\n"
    + _event(model="m-1", choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}}])
    + _event(model="m-1", choices=[{"index": 0, "delta": {"content": "Отпуск 年假 🙂"}}])
    + _event(choices=[{"delta": {"tool_calls": [{"index": 0, "function": {"name": "search", "arguments": "{"}}]}}])
    + _event(choices=[{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}}])
    + _event(model="m-1", choices=[{"delta": {}, "finish_reason": "stop"}])
    + _event(
        model="m-1",
        choices=[],
        usage={"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
    )
    + b"data: [DONE]\n\n"
)


def _chunks(data: bytes, cuts: list[int]) -> tuple[list[ModelChunk], OpenAiStream]:
    parser = OpenAiStream()
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    chunks = [chunk for start, end in itertools.pairwise(bounds) for chunk in parser.feed(data[start:end])]
    return chunks, parser


@given(st.lists(st.integers(min_value=0, max_value=10_000), max_size=30))
def test_any_split_gives_the_same_chunks(cuts: list[int]) -> None:
    chunks, parser = _chunks(_STREAM, cuts)
    assert chunks == [
        TextDelta("Отпуск 年假 🙂"),
        ToolCallDelta(0, "search", "{"),
        ToolCallDelta(0, "", "}"),
        ModelReported("m-1", None, "stop"),
        ModelReported("m-1", ModelUsage(9, 3, 4), None),
    ]
    assert parser.done
    assert parser.finished


def test_an_error_in_the_stream_is_a_fault() -> None:
    with pytest.raises(ModelUnavailableError):
        list(OpenAiStream().feed(_event(error={"message": "overloaded"})))


def test_something_that_is_no_chunk_is_a_fault() -> None:
    with pytest.raises(ModelStreamBrokenError):
        list(OpenAiStream().feed(b"data: <html>\n\n"))


def test_a_stream_without_an_end_is_not_finished() -> None:
    parser = OpenAiStream()
    list(parser.feed(_event(choices=[{"delta": {"content": "Half"}}])))
    assert not parser.finished
