"""Whatever a model streams, and however the stream breaks: no invented number, identifier, address or marker."""

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.gate_passages import PACKED, QUESTIONS, pass_through

pytestmark = [pytest.mark.unit, pytest.mark.p0, pytest.mark.req("GROUND-1", "GROUND-6")]

_MARKER = re.compile(r"\[(\d+)\]")
_ITEM_NUMBER = re.compile(r"(?m)^(?:> )?\d{1,3}\. ")
_NUMBER = re.compile(r"\d+(?:[.,\s]\d{3})*(?:[.,:]\d+)?")
_ADDRESS = re.compile(r"[\w.]+@[\w.]+|https?://\S+|[A-Z]{2}-\d+")

_SENTENCES = {
    code: [sentence for passage in passages for sentence in re.findall(r"[^.。\n]+[.。]", passage.text)]
    for code, passages in PACKED.items()
}
_NOISE = [
    " [1]", "[2]", "[3]", "[1945]", "【1】", "\n", "\n\n", "- ", "1. ", "17. ", "# ", "**", "`", "```\n",
    "| 7 | 9 |\n", "<b>", "</b>", "&#57;", "[x](https://evil.example/9)", " and ", ", ", ": ", "[", "]",
    "٣", "⁹", "\u200b", "９", " nineteen", " million", " neun", " девять", "九", " XR-77", " me@evil.example",
    " https://evil.example", " % ", " km",
]  # fmt: skip


def _numbers(text: str) -> set[str]:
    digits = (re.sub(r"[\s.,]", "", found) for found in _NUMBER.findall(text))
    return {"".join(str(unicodedata.digit(char, char)) for char in found) for found in digits}


@st.composite
def _streams(draw: st.DrawFn) -> tuple[str, str]:
    """(language, answer): passage sentences with digits replaced, cut into and glued together with noise."""
    code = draw(st.sampled_from(sorted(PACKED)))
    parts = []
    for _ in range(draw(st.integers(1, 6))):
        sentence = draw(st.sampled_from(_SENTENCES[code]))
        if draw(st.booleans()):
            sentence = re.sub(r"\d+", str(draw(st.integers(0, 99_999))), sentence)
        if draw(st.booleans()):
            place = draw(st.integers(0, len(sentence)))
            sentence = sentence[:place] + draw(st.sampled_from(_NOISE)) + sentence[place:]
        parts.append(sentence + draw(st.sampled_from(["", " ", " [1]", " [2]", "\n", *_NOISE])))
    return code, "".join(parts)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_streams())
def test_no_invented_number_identifier_address_or_marker_is_released(stream: tuple[str, str]) -> None:
    code, answer = stream
    passages = PACKED[code]

    released = pass_through(answer, passages, QUESTIONS[code])

    assert {int(number) for number in _MARKER.findall(released.text)} <= {1, 2}
    assert set(released.cited) == {int(number) for number in _MARKER.findall(released.text)}
    bare = unicodedata.normalize("NFKC", _ITEM_NUMBER.sub("", _MARKER.sub("", released.text)))
    known = unicodedata.normalize("NFKC", "\n".join(f"{passage.title}\n{passage.text}" for passage in passages))
    assert _numbers(bare) <= _numbers(known)
    assert set(_ADDRESS.findall(bare)) <= set(_ADDRESS.findall(known))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_streams(), st.lists(st.integers(1, 7), max_size=300))
def test_any_chunking_releases_the_same_text_and_rejects_the_same_sentences(
    stream: tuple[str, str], sizes: list[int]
) -> None:
    code, answer = stream

    broken = pass_through(answer, PACKED[code], QUESTIONS[code], sizes)
    whole = pass_through(answer, PACKED[code], QUESTIONS[code])

    assert broken.text == whole.text
    assert broken.gate.rejections == whole.gate.rejections


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(PACKED)), st.text(max_size=200))
def test_no_text_breaks_the_gate(code: str, text: str) -> None:
    answer = pass_through(text, PACKED[code], QUESTIONS[code])

    assert all(n in (1, 2) for n in answer.cited)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(["28 days", "28 Tage", "28 дней", "28天"]),
    st.integers(0, 10**7).filter(lambda number: number != 28),
    st.sampled_from(["{}", "{:,}", "{}.0", "0{}", "{}½", "№{}", "~{}", "{}th", "{}%", "${}", "{} million"]),
)
def test_no_spelling_of_another_number_passes_for_the_one_in_the_passage(fact: str, number: int, spelling: str) -> None:
    code = {"d": "en", "T": "de", "д": "ru", "天": "zh"}[fact.removeprefix("28").strip()[0]]
    written = spelling.format(number)
    for sentence in _SENTENCES[code]:
        if "28" in sentence:
            lie = sentence.strip().replace("28", written)
            released = pass_through(lie, PACKED[code], QUESTIONS[code])
            assert released.text == "", lie
