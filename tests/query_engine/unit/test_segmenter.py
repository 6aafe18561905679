"""Where sentences end, in four languages, and that the stream's chunks do not matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.grounding.segmenter import LONGEST_SENTENCE, Segmenter, split_text

pytestmark = [pytest.mark.unit, pytest.mark.p1]

CASES = {
    "en": [
        ("Hello Mr. Smith. He paid $3.5 to U.S. firms.", ["Hello Mr. Smith.", "He paid $3.5 to U.S. firms."]),
        ("See no. 5, e.g. this one. Then that!", ["See no. 5, e.g. this one.", "Then that!"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("One [1]. Two. [2] Three.[1][2] Four", ["One [1].", "Two. [2]", "Three.[1][2]", "Four"]),
        ("J. R. Tolkien wrote. Who?", ["J. R. Tolkien wrote.", "Who?"]),
        ("It costs 3.50 today. Wait... what? Yes", ["It costs 3.50 today.", "Wait... what?", "Yes"]),
        ("Thomas C. Mann knew Sir C. V. Raman. Why?", ["Thomas C. Mann knew Sir C. V. Raman.", "Why?"]),
        ("It melts at 20 °C. The rest stays.", ["It melts at 20 °C.", "The rest stays."]),
        ("a soft\nwrap of a line. Next", ["a soft\nwrap of a line.", "Next"]),
    ],
    "de": [
        ("Am 3. Mai 2020 kam er. Dann ging er.", ["Am 3. Mai 2020 kam er.", "Dann ging er."]),
        ("Das gilt z. B. am 5. Tag. Es ist gut.", ["Das gilt z. B. am 5. Tag.", "Es ist gut."]),
        ("Nr. 5 ist da. Im Jahr 2019. Der Rest", ["Nr. 5 ist da.", "Im Jahr 2019.", "Der Rest"]),
    ],
    "ru": [
        ("В 2020 г. он пришёл, т. е. ушёл. Потом вернулся.", ["В 2020 г. он пришёл, т. е. ушёл.", "Потом вернулся."]),
        ("Т. Г. Шевченко жил в Киеве. Было 20 °C. Всё.", ["Т. Г. Шевченко жил в Киеве.", "Было 20 °C.", "Всё."]),
        ("Это А. С. Пушкин. Цена 3 тыс. руб. Всё.", ["Это А. С. Пушкин.", "Цена 3 тыс. руб.", "Всё."]),
    ],
    "zh": [
        ("他说：“你好。再见。”然后走了。再见！", ["他说：“你好。再见。”", "然后走了。", "再见！"]),
        ("数字是3.5。[1]结束【2】。", ["数字是3.5。[1]", "结束【2】。"]),
    ],
}


@pytest.mark.parametrize(
    ("code", "text", "expected"), [(code, *case) for code, cases in CASES.items() for case in cases]
)
def test_sentences_end_where_a_reader_ends_them(code: str, text: str, expected: list[str]) -> None:
    assert [segment.text for segment in split_text(text, load_language(code))] == expected


def test_lines_of_a_list_headings_rows_and_code_are_segments_of_their_own() -> None:
    text = "# Title\nIntro:\n- one\n* two. More\n1. three\n\n| a | b |\n---\n```\nx. y\n```\n> quoted"

    found = [(segment.kind, segment.prefix, segment.text) for segment in split_text(text, load_language("en"))]

    assert found == [
        ("heading", "# ", "Title"),
        ("sentence", "", "Intro:"),
        ("sentence", "- ", "one"),
        ("sentence", "* ", "two."),
        ("sentence", "", "More"),
        ("sentence", "1. ", "three"),
        ("row", "", "| a | b |"),
        ("rule", "", "---"),
        ("code", "", "```\nx. y\n```"),
        ("sentence", "> ", "quoted"),
    ]


def test_a_sentence_is_cut_as_soon_as_the_next_one_begins() -> None:
    segmenter = Segmenter(load_language("en"))

    assert segmenter.feed("This is one sentence.") == []
    assert [segment.text for segment in segmenter.feed(" And ")] == ["This is one sentence."]


def test_the_buffer_is_bounded_and_the_overlong_part_is_marked() -> None:
    segmenter = Segmenter(load_language("en"))

    segments = [segment for _ in range(200) for segment in segmenter.feed("endless words " * 20)]

    assert {segment.kind for segment in segments} == {"too_long"}
    assert max(len(segment.text) for segment in segments) <= LONGEST_SENTENCE


_INLINE = ["Fact one", ". ", ".", " [1]", "[2]", "Dr. ", "3. Mai", "т. е. ", "你好。", "”", "“", "`a[1]`", "! ", "?"]
_LINES = ["\n", "\n\n", "- item", "1. ", "```\n", "# Head\n", "\r\n", "> ", "---\n", "| a | b |\n"]
_LOOSE = ["【1】", "[", "]", "(", " ", "word ", "2019", "...", ":"]
_FRAGMENTS = st.sampled_from(_INLINE + _LINES + _LOOSE)


@given(
    st.lists(_FRAGMENTS, max_size=30).map("".join),
    st.lists(st.integers(1, 9), max_size=60),
    st.sampled_from(sorted(CASES)),
)
def test_any_chunking_gives_the_same_segments(text: str, sizes: list[int], code: str) -> None:
    data = load_language(code)
    segmenter = Segmenter(data)
    segments = []
    rest = text
    for size in sizes:
        segments += segmenter.feed(rest[:size])
        rest = rest[size:]
    segments += segmenter.feed(rest) + segmenter.finish()

    assert segments == split_text(text, data)
