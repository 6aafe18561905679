"""Usage in the shapes that providers send it, and in shapes that nobody should believe."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.chat_api.adapters.openai_stream import OpenAiStream
from services.chat_api.domain.model_call import ModelReported, ModelUsage
from services.chat_api.domain.provider_usage import read_usage

pytestmark = [pytest.mark.unit, pytest.mark.p1]

# Each: what is sent, and the tokens of input, output, cached input, cache writes and reasoning that it comes to.
_SHAPES: dict[str, tuple[dict[str, Any], ModelUsage]] = {
    "openai chat, cached and reasoning inside": (
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 192, "accepted_prediction_tokens": 0},
        },
        ModelUsage(2006, 300, 1920, 0, 192),
    ),
    "openai responses": (
        {
            "input_tokens": 328,
            "input_tokens_details": {"cached_tokens": 128},
            "output_tokens": 52,
            "output_tokens_details": {"reasoning_tokens": 30},
            "total_tokens": 380,
        },
        ModelUsage(328, 52, 128, 0, 30),
    ),
    "azure and vllm, without details": (
        {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21, "prompt_tokens_details": None},
        ModelUsage(9, 12),
    ),
    "anthropic, caches beside the input": (
        {
            "input_tokens": 50,
            "cache_creation_input_tokens": 248,
            "cache_read_input_tokens": 1800,
            "cache_creation": {"ephemeral_5m_input_tokens": 248, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 503,
        },
        ModelUsage(2098, 503, 1800, 248),
    ),
    "a proxy of anthropic that leaves the caches beside the prompt": (
        {
            "prompt_tokens": 194,
            "completion_tokens": 7,
            "total_tokens": 201,
            "cache_creation_input_tokens": 9474,
            "cache_read_input_tokens": 0,
        },
        ModelUsage(9668, 7, 0, 9474),
    ),
    "litellm, caches inside the prompt and told twice": (
        {
            "prompt_tokens": 98805,
            "completion_tokens": 5120,
            "total_tokens": 103925,
            "prompt_tokens_details": {"cached_tokens": 66360, "cache_creation_tokens": 32435, "text_tokens": None},
            "completion_tokens_details": {"reasoning_tokens": 1710},
            "cache_read_input_tokens": 66360,
            "cache_creation_input_tokens": 32435,
        },
        ModelUsage(98805, 5120, 66360, 32435, 1710),
    ),
    "a gateway whose total counts the caches beside the prompt": (
        {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 200, "cache_read_input_tokens": 80},
        ModelUsage(180, 20, 80),
    ),
    "deepseek, hits and misses": (
        {
            "prompt_tokens": 21530,
            "completion_tokens": 9,
            "total_tokens": 21539,
            "prompt_cache_hit_tokens": 320,
            "prompt_cache_miss_tokens": 21210,
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
        ModelUsage(21530, 9, 320, 0, 4),
    ),
    "openrouter, with cache writes and a cost of its own": (
        {
            "prompt_tokens": 13559,
            "completion_tokens": 122,
            "total_tokens": 13681,
            "prompt_tokens_details": {"cached_tokens": 10000, "cache_write_tokens": 3000},
            "completion_tokens_details": {"reasoning_tokens": 0},
            "cost": 0.017558,
        },
        ModelUsage(13559, 122, 10000, 3000),
    ),
    "xai, reasoning beside the completion": (
        {
            "prompt_tokens": 2640,
            "completion_tokens": 182,
            "total_tokens": 3494,
            "prompt_tokens_details": {"text_tokens": 2640, "cached_tokens": 473},
            "completion_tokens_details": {"reasoning_tokens": 672},
            "num_sources_used": 0,
        },
        ModelUsage(2640, 854, 473, 0, 672),
    ),
    "gemini through the openai dialect, thoughts in the total only": (
        {"prompt_tokens": 8, "completion_tokens": 12, "total_tokens": 1200},
        ModelUsage(8, 12),
    ),
    "gemini's own names, thoughts beside the candidates": (
        {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 40,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 30,
            "totalTokenCount": 150,
        },
        ModelUsage(100, 50, 40, 0, 30),
    ),
    "mistral": (
        {
            "prompt_tokens": 16,
            "completion_tokens": 34,
            "total_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
        ModelUsage(16, 34, 8),
    ),
    "moonshot, cached at the top": (
        {"prompt_tokens": 1000, "completion_tokens": 5, "total_tokens": 1005, "cached_tokens": 768},
        ModelUsage(1000, 5, 768),
    ),
    "perplexity, reasoning at the top": (
        {"prompt_tokens": 14, "completion_tokens": 200, "total_tokens": 214, "reasoning_tokens": 120},
        ModelUsage(14, 200, 0, 0, 120),
    ),
    "bedrock, caches beside the input": (
        {
            "inputTokens": 30,
            "outputTokens": 628,
            "totalTokens": 658,
            "cacheReadInputTokens": 1000,
            "cacheWriteInputTokens": 500,
        },
        ModelUsage(1530, 628, 1000, 500),
    ),
    "both names of the input": (
        {"prompt_tokens": 1050, "input_tokens": 50, "output_tokens": 7, "cache_read_input_tokens": 1000},
        ModelUsage(1050, 7, 1000),
    ),
    "whole numbers with a point": ({"prompt_tokens": 10.0, "completion_tokens": 2.0}, ModelUsage(10, 2)),
}

_UNBELIEVABLE: dict[str, Any] = {
    "nothing": {},
    "null": None,
    "a text": "many",
    "a list": [1, 2],
    "only a total": {"total_tokens": 500},
    "no completion": {"prompt_tokens": 400, "total_tokens": 500},
    "no prompt": {"completion_tokens": 100, "total_tokens": 500},
    "a prompt of nothing": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "negative": {"prompt_tokens": -5, "completion_tokens": 3},
    "negative completion": {"prompt_tokens": 5, "completion_tokens": -3},
    "texts": {"prompt_tokens": "12", "completion_tokens": "3"},
    "truths": {"prompt_tokens": True, "completion_tokens": True},
    "fractions": {"prompt_tokens": 1.5, "completion_tokens": 2},
    "huge": {"prompt_tokens": 10**30, "completion_tokens": 3},
    "more than any model sees": {"prompt_tokens": 2_000_000_000, "completion_tokens": 3},
    "endless": {"prompt_tokens": float("inf"), "completion_tokens": float("nan")},
}

_DETAILS_LEFT_OUT: dict[str, dict[str, Any]] = {
    "more cached than asked": {"prompt_tokens_details": {"cached_tokens": 500}},
    "negative cached": {"prompt_tokens_details": {"cached_tokens": -1}},
    "cached as a text": {"prompt_tokens_details": {"cached_tokens": "40"}},
    "details as a list": {"prompt_tokens_details": [40]},
    "huge cached": {"prompt_cache_hit_tokens": 10**18},
    "more reasoning than written": {"completion_tokens_details": {"reasoning_tokens": 900}},
}


@pytest.mark.req("LOOP-26")
@pytest.mark.parametrize("shape", _SHAPES)
def test_each_providers_shape_comes_to_one(shape: str) -> None:
    sent, expected = _SHAPES[shape]
    assert read_usage(sent) == expected


@pytest.mark.req("LOOP-26")
@pytest.mark.parametrize("nonsense", _UNBELIEVABLE)
def test_nonsense_is_not_believed(nonsense: str) -> None:
    assert read_usage(_UNBELIEVABLE[nonsense]) is None


@pytest.mark.parametrize("detail", _DETAILS_LEFT_OUT)
def test_details_that_contradict_the_counts_are_left_out(detail: str) -> None:
    assert read_usage({"prompt_tokens": 100, "completion_tokens": 20, **_DETAILS_LEFT_OUT[detail]}) == ModelUsage(
        100, 20
    )


_NAMES = sorted({name for sent, _ in _SHAPES.values() for name in sent})
_SCALARS = st.integers(0, 2_000) | st.integers() | st.floats() | st.sampled_from((None, True, "12", [7], 10**30))
_SENT = st.dictionaries(
    st.sampled_from(_NAMES), _SCALARS | st.dictionaries(st.sampled_from(_NAMES), _SCALARS, max_size=2), max_size=8
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_SENT)
def test_whatever_is_sent_the_parts_fit_into_the_whole(sent: dict[str, Any]) -> None:
    usage = read_usage(sent)
    if usage:
        assert 0 <= usage.cached_input_tokens + usage.cache_write_tokens <= usage.input_tokens < 2**31
        assert 0 <= usage.reasoning_tokens <= usage.output_tokens < 2**31


_PLAIN = {"prompt_tokens": 9, "completion_tokens": 3}


@pytest.mark.parametrize(
    ("place", "body"),
    [
        ("beside the choices", {"choices": [], "usage": _PLAIN}),
        ("in a choice", {"choices": [{"delta": {}, "finish_reason": "stop", "usage": _PLAIN}]}),
        ("in a gateway's own part", {"choices": [], "x_groq": {"id": "r", "usage": _PLAIN}}),
        ("in a response", {"choices": [], "usage": {"usage": _PLAIN}}),
        ("as metadata", {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_usage_is_found_where_providers_put_it(place: str, body: dict[str, Any]) -> None:
    assert [report.usage for report in _reports(body)] == [ModelUsage(9, 3)], place


@pytest.mark.req("LOOP-26")
@pytest.mark.parametrize(
    "usage", [*_UNBELIEVABLE.values(), {"prompt_tokens_details": 7}], ids=[*_UNBELIEVABLE, "details as a number"]
)
def test_nonsense_in_a_stream_does_not_end_the_answer(usage: Any) -> None:
    reports = _reports({"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}], "usage": usage})
    assert [(report.finish_reason, report.usage) for report in reports] == [("stop", None)]


def _reports(body: dict[str, Any]) -> list[ModelReported]:
    chunks = OpenAiStream().feed(b"data: " + msgspec.json.encode({"model": "m-1", **body}) + b"\n\n")
    return [chunk for chunk in chunks if isinstance(chunk, ModelReported)]
