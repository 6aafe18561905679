"""Talk cites nothing, so nothing in it may look like a citation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.domain.grounding.marker_filter import MarkerFilter
from services.chat_api.domain.grounding.markers import holds_marker

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def _filtered(text: str, sizes: tuple[int, ...] = ()) -> str:
    unmarked, shown, rest = MarkerFilter(), "", text
    for size in sizes:
        shown += unmarked.feed(rest[:size])
        rest = rest[size:]
    return shown + unmarked.feed(rest) + unmarked.finish()


@pytest.mark.req("CITE-3")
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Hello there [1].", "Hello there."),
        ("Hello[1][2] there [1, 2] and 【3】 on", "Hello there and on"),
        ("As the handbook says (source 2), yes. [^1]", "As the handbook says, yes."),
        ("Read [1](https://evil.example/a_(b)) now", "Read now"),
        ("[1] first", " first"),
        (
            "Use `a[1]` and [this](https://x.example) (really) [ok]",
            "Use `a[1]` and [this](https://x.example) (really) [ok]",
        ),
        ("```py\nx[1] = y[2]\n```\nDone [1]", "```py\nx[1] = y[2]\n```\nDone"),
        ("a lone ` tick [1] and [half", "a lone ` tick and [half"),
        ("你好[1]。再见【2】", "你好。再见"),
        ("A fact ([1]). (A fact [2])", "A fact (…). (A fact)"),
        ("Not a marker: [\n1]", "Not a marker: [\n1]"),
        ("Split [[1]2] here, [ [1]2], (source [1] 5)", "Split […2] here, [ …2], (source… 5)"),
        ("", ""),
        ("[1]", ""),
        ("[" * 500, "[" * 500),
    ],
)
def test_markers_go_and_everything_else_stays(said: str, shown: str) -> None:
    assert _filtered(said) == shown
    assert _filtered(said, (1,) * len(said)) == shown


@pytest.mark.req("CITE-5")
@given(
    st.lists(
        st.sampled_from(
            ["[1]", " [2, 3]", "`", "```", "a[", "]", "(", "Wort. ", "【4】", "\n", "source 5)", "x", "1", "[["]
        )
    ),
    st.lists(st.integers(0, 4), max_size=40),
)
def test_no_chunking_changes_the_text_or_lets_a_marker_through(parts: list[str], sizes: list[int]) -> None:
    said = "".join(parts)
    shown = _filtered(said)
    assert _filtered(said, tuple(sizes)) == shown
    if "`" not in said:
        assert not any(holds_marker(line) for line in shown.split("\n"))


def test_text_without_brackets_is_not_held_back() -> None:
    unmarked = MarkerFilter()
    assert unmarked.feed("Hello") == "Hello"
    assert unmarked.feed(" there, ") == " there,"
    assert unmarked.feed("you") == " you"
