"""A sentence that repeats the question must put into it what the passage has in that place."""

import pytest

from services.chat_api.domain.grounding.asking import read_question
from services.chat_api.domain.grounding.evidence import prepare_passage
from services.chat_api.domain.grounding.question_map import QuestionMap
from tests.support.gate_passages import make_passage, pass_through

pytestmark = [pytest.mark.unit, pytest.mark.p0]

TOWN = make_passage(
    1,
    "Millbrook",
    "Millbrook is a town on the river Ash. The town hall was built in 1874 by the architect Edwin Harlow. In the "
    "census of 2010 the average household size was 2.7 persons. The brewery employs 340 people and was sold to "
    "Nordbrau in 1998. Every spring the rowing club holds a regatta on the lower lake.",
)

CASES = [
    ("Who built the town hall?", "Edwin Harlow", ["Nordbrau", "1998", "rowing club"]),
    ("When was the town hall built?", "1874", ["Edwin Harlow", "1998", "340"]),
    ("What was the average household size in the census?", "2.7 persons", ["340 people", "the rowing club"]),
    ("How many people does the brewery employ?", "340", ["Nordbrau", "1874"]),
    ("Which company was the brewery sold to?", "Nordbrau", ["Edwin Harlow", "1874"]),
]


@pytest.mark.parametrize(("question", "right"), [(question, right) for question, right, _wrong in CASES])
def test_a_right_answer_after_its_question_is_released(question: str, right: str) -> None:
    assert pass_through(f"{question.rstrip('?')}: {right}.", [TOWN], question).cited == (1,)


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize(("question", "wrong"), [(question, lie) for question, _right, lies in CASES for lie in lies])
def test_a_wrong_answer_made_of_the_passages_own_words_is_not_released(question: str, wrong: str) -> None:
    assert pass_through(f"{question.rstrip('?')}: {wrong}.", [TOWN], question).text == ""


@pytest.mark.req("GROUND-1")
def test_a_whole_sentence_with_the_wrong_answer_in_it_is_not_released() -> None:
    for question, lie in (
        ("What was the average household size?", "The average household size was 340 persons."),
        ("Who built the town hall?", "The town hall was built by Nordbrau."),
        ("When was the town hall built?", "The town hall was built in 1998."),
    ):
        assert pass_through(lie, [TOWN], question).text == "", lie


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize(
    "lie",
    [
        "The brewery was built in 1874 by the architect Edwin Harlow.",
        "The rowing club employs 340 people and was sold to Nordbrau in 1998.",
        "The town hall was sold to Nordbrau in 1998.",
    ],
)
def test_one_sentences_predicate_under_anothers_subject_is_not_released(lie: str) -> None:
    assert pass_through(lie, [TOWN], "What is known about Millbrook?").text == ""


@pytest.mark.req("GROUND-1")
def test_two_numbers_that_changed_places_are_not_released() -> None:
    ferry = make_passage(1, "Ferry", "Passenger numbers rose from 310,000 in 2023 to 402,000 in 2024.")

    assert pass_through("Passenger numbers rose from 402,000 in 2023 to 310,000 in 2024.", [ferry], "").text == ""
    assert pass_through("Passenger numbers rose from 310 000 in 2023 to 402 000 in 2024.", [ferry], "").cited == (1,)


@pytest.mark.req("GROUND-1")
def test_the_values_of_two_list_items_are_not_joined() -> None:
    plans = make_passage(
        1, "Plans", "The limits are:\n\n- Free plan: 5 projects, 1 GB\n- Team plan: 50 projects, 100 GB\n"
    )

    assert pass_through("Team plan: 50 projects, 1 GB", [plans], "").text == ""
    assert pass_through("Team plan: 50 projects, 100 GB", [plans], "").cited == (1,)


@pytest.mark.req("GROUND-1")
def test_a_command_in_backticks_must_stand_in_a_passage_sign_by_sign() -> None:
    notes = make_passage(1, "Upgrade", "To upgrade the cluster, run `orbit upgrade --to 7.4 --keep-config` at night.")

    said = "To upgrade the cluster, run `orbit upgrade --to 7.4 {}` at night."
    assert pass_through(said.format("--keep-config"), [notes], "").cited == (1,)
    assert pass_through(said.format("--force"), [notes], "").text == ""


PAIR = make_passage(
    2,
    "",
    "Norwood College is a private research university in the village of Chestnut Hill. Stanway University is a "
    "private university in Marlow, founded by Ida Brandt.",
)


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize(
    ("question", "lie"),
    [
        (
            "Which private research university is located in Chestnut Hill, Norwood College or Stanway University?",
            "Stanway University is located in Chestnut Hill",
        ),
        ("Who founded the university in the town near Chestnut Hill?", "Norwood College founded the town"),
    ],
)
def test_an_answer_in_the_questions_words_must_stand_in_one_place(question: str, lie: str) -> None:
    assert pass_through(f"{question.rstrip('?')}: {lie}.", [PAIR], question).text == ""


def test_an_answer_in_the_passages_words_after_its_question_is_released() -> None:
    question = "Which university is in Chestnut Hill?"
    assert pass_through(f"{question.rstrip('?')}: Norwood College is in Chestnut Hill.", [PAIR], question).cited == (2,)


def test_a_question_is_told_in_two_steps_where_both_name_a_third() -> None:
    told = (
        "Mara Quill is the captain of the Harrow Club. The pond freezes in winter. The boats of Harrow were built by "
        "Otto Lang."
    )
    passage = prepare_passage(told, "")
    asked = QuestionMap(read_question("Who built the boats that captain Mara Quill leads?", "en"), passage)
    assert asked.bridged(2, frozenset({"otto", "lang"}))
    assert not asked.bridged(1, frozenset())
    assert not asked.bridged(2, frozenset({"harrow"}))


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize(
    "lie",
    [
        "The brewery employs 340 people, was built in 1874 by the architect Edwin Harlow.",
        "Every spring the rowing club holds a regatta, was sold to Nordbrau in 1998.",
    ],
)
def test_a_predicate_joined_to_anothers_sentence_is_not_released(lie: str) -> None:
    assert pass_through(lie, [TOWN], "What is known about Millbrook?").text == ""
