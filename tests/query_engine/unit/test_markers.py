"""Citation markers, in whatever style and however the stream breaks them."""

import pytest

from services.chat_api.domain.grounding.markers import read_markers
from tests.support.gate_passages import ENGLISH, make_passage, pass_through

pytestmark = [pytest.mark.unit, pytest.mark.p1]

FACT = "Travel costs are reimbursed within 30 days"


@pytest.mark.parametrize(
    ("marker", "cited"),
    [
        ("[2]", (2,)),
        ("[1][2]", (1, 2)),
        ("[1, 2]", (1, 2)),
        ("[1-2]", (1, 2)),
        ("【2】", (2,)),
        ("[^2]", (2,)),
        ("[source 2]", (2,)),
        ("(source 2)", (2,)),
        ("[Quelle 2]", (2,)),
        ("[来源2]", (2,)),
        ("【2†source】", (2,)),
    ],
)
def test_marker_styles_are_read_and_taken_out(marker: str, cited: tuple[int, ...]) -> None:
    marked = read_markers(f"{FACT} {marker}.", (1, 2))

    assert marked.text == f"{FACT}."
    assert marked.cited == cited
    assert not marked.foreign


@pytest.mark.req("CITE-5")
@pytest.mark.parametrize("marker", ["[2]", "[1][2]", "[1, 2]", "【2】", "[^2]"])
def test_markers_survive_any_break_of_the_stream(marker: str) -> None:
    answer = f"{FACT} {marker}. Unused days do not carry over.{marker.replace('2', '1')}"
    whole = pass_through(answer, ENGLISH, "")

    assert whole.text == f"{FACT}. [2] Unused days do not carry over. [1]"
    for first in range(len(answer)):
        assert pass_through(answer, ENGLISH, "", [first]).text == whole.text
    assert pass_through(answer, ENGLISH, "", [1] * len(answer)).text == whole.text


@pytest.mark.req("CITE-5")
@pytest.mark.parametrize("written", [f"{FACT}. [2]", f"{FACT} [2].", f"{FACT}.[2]", f"{FACT}.\n[2]", f"[2] {FACT}."])
def test_a_marker_belongs_to_its_sentence_wherever_it_stands(written: str) -> None:
    answer = pass_through(f"{written}\n", ENGLISH, "")

    assert answer.text == f"{FACT}. [2]"


@pytest.mark.parametrize("opening", ["According to source 2, travel", "Based on document 2: travel"])
def test_an_attribution_in_words_becomes_a_marker(opening: str) -> None:
    answer = pass_through(f"{opening} costs are reimbursed within 30 days.", ENGLISH, "")

    assert answer.text == f"{FACT}. [2]"


@pytest.mark.req("CITE-3")
@pytest.mark.parametrize("marker", ["[7]", "[1945]", "[2, 7]", "【9】", "(source 9)", "[^12]", "[0]"])
def test_a_marker_to_what_is_not_packed_never_gets_out(marker: str) -> None:
    answer = pass_through(f"{FACT} {marker}.", ENGLISH, "")

    assert answer.text == ""
    assert answer.reasons == ("foreign_marker",)
    assert answer.cited == ()


@pytest.mark.req("CITE-5")
def test_code_links_and_footnotes_of_the_passage_are_no_markers() -> None:
    text = "Read `items[1]` first.[12] The [guide](https://wiki.example/2) explains the queue."
    passages = [make_passage(1, "Other", "Nothing of note."), make_passage(4, "Queue", text)]

    code = pass_through("Read `items[1]` first.", passages, "")
    assert code.text == "Read `items[1]` first. [4]"
    footnote = pass_through("Read `items[1]` first.[12]", passages, "")
    assert footnote.text == "Read `items[1]` first. [4]"
    link = pass_through("The [guide](https://wiki.example/2) explains the queue.", passages, "")
    assert link.text == "The guide explains the queue. [4]"


@pytest.mark.req("CITE-3")
def test_halves_of_a_marker_do_not_meet_in_the_answer() -> None:
    answer = pass_through(
        "Travel costs are reimbursed within 30 days [. 2] Unused days do not carry over.", ENGLISH, ""
    )

    assert "[ " not in answer.text
    assert "2]" not in answer.text.replace("[2]", "")
