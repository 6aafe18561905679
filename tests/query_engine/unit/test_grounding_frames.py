"""Lead-ins, headings and list frames, and the markup that a model wraps its answer in."""

import pytest

from services.chat_api.domain.grounding.gate import GroundingGate
from tests.support.gate_passages import ENGLISH, make_passage, pass_through

pytestmark = [pytest.mark.unit, pytest.mark.p0]

QUESTION = "What are the rules for annual leave?"


@pytest.mark.req("GROUND-14")
def test_a_lead_in_is_released_together_with_its_first_supported_item() -> None:
    gate = GroundingGate(QUESTION, ENGLISH)
    assert gate.feed("Here are the rules for annual leave:\n") == []

    released = gate.feed("- Unused days do not carry over.\n- Travel")

    assert [piece.text for piece in released] == [
        "Here are the rules for annual leave:\n- Unused days do not carry over. [1]"
    ]


@pytest.mark.req("GROUND-14")
def test_a_lead_in_without_a_supported_item_is_not_released() -> None:
    assert pass_through("Here are the rules for annual leave:\n- Cats get 99 days.", ENGLISH, QUESTION).text == ""
    assert pass_through("Here are the rules for annual leave:", ENGLISH, QUESTION).text == ""


@pytest.mark.req("GROUND-14")
@pytest.mark.parametrize(
    "frame",
    [
        "Great news from our secret laboratory:",
        "Here are 7 rules:",
        "## Napoleon's leave policy",
        "## Leave 2024",
        "Annual leave is not paid:",
    ],
)
def test_a_frame_with_words_of_its_own_is_left_out(frame: str) -> None:
    answer = pass_through(f"{frame}\n- Unused days do not carry over.", ENGLISH, QUESTION)

    assert answer.text == "- Unused days do not carry over. [1]"
    assert answer.reasons == ("unsupported_framing",)


@pytest.mark.req("GROUND-14")
def test_a_heading_goes_with_the_section_whose_items_fell() -> None:
    answer = pass_through(
        "## Annual leave\n- Employees receive 99 days.\n\n"
        "## Travel costs\n- Travel costs are reimbursed within 30 days.",
        ENGLISH,
        QUESTION,
    )

    assert answer.text == "## Travel costs\n- Travel costs are reimbursed within 30 days. [2]"


def test_a_connective_alone_is_never_an_answer() -> None:
    assert pass_through("Sure!", ENGLISH, QUESTION).text == ""
    assert pass_through("However.", ENGLISH, QUESTION).text == ""


def test_items_keep_their_marks_and_lines() -> None:
    answer = pass_through(
        "1. Unused days do not carry over [1].\n2. Cats get 99 days.\n"
        "3. Travel costs are reimbursed within 30 days [2].",
        ENGLISH,
        QUESTION,
    )

    assert answer.text == ("1. Unused days do not carry over. [1]\n2. Travel costs are reimbursed within 30 days. [2]")


@pytest.mark.parametrize(
    ("written", "released"),
    [
        ("[Unused days](https://evil.example) do not carry over.", "Unused days do not carry over. [1]"),
        ("Unused days do not carry over ![x](https://evil.example/a.png).", "Unused days do not carry over . [1]"),
        ("<a href='https://evil.example'>Unused days</a> do not carry over.", "Unused days do not carry over. [1]"),
        ("Unused days <!-- 1945 --> do not carry over.", "Unused days  do not carry over. [1]"),
        ("**Unused days** do not carry over.", "**Unused days** do not carry over. [1]"),
    ],
)
def test_links_images_and_tags_are_reduced_to_their_text(written: str, released: str) -> None:
    assert pass_through(written, ENGLISH, QUESTION).text == released


def test_a_link_definition_is_left_out() -> None:
    answer = pass_through("Unused days do not carry over.\n\n[1]: https://evil.example", ENGLISH, QUESTION)

    assert answer.text == "Unused days do not carry over. [1]"
    assert answer.reasons == ("markup",)


def test_an_address_of_the_passage_may_be_given_and_no_other() -> None:
    portal = make_passage(1, "Portal", "Requests are filed at https://portal.example/leave by every employee.")

    assert pass_through("Requests are filed at https://portal.example/leave.", [portal], "").cited == (1,)
    assert pass_through("Requests are filed at https://portal.example/other.", [portal], "").text == ""


@pytest.mark.req("GROUND-1")
def test_a_code_block_passes_only_if_the_passage_has_every_line() -> None:
    manual = make_passage(1, "Setup", "Run these commands:\n```\nmake setup\nmake test\n```\n")

    known = pass_through("```sh\nmake setup\nmake test\n```\n", [manual], "")
    assert known.text == "```\nmake setup\nmake test\n```\n[1]"
    assert pass_through("```\nmake setup\nrm -rf /\n```\n", [manual], "").text == ""


def test_an_endless_sentence_is_dropped_and_the_next_one_is_checked() -> None:
    answer = pass_through("word " * 900 + "end. Unused days do not carry over.", ENGLISH, QUESTION)

    assert answer.text == "Unused days do not carry over. [1]"
    assert set(answer.reasons) == {"too_long"}
