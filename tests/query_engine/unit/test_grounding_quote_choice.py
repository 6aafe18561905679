"""Which sentence is quoted, and when none is."""

import pytest

from services.chat_api.domain.grounding.amounts import amounts_met
from services.chat_api.domain.grounding.analysis import analyse
from services.chat_api.domain.grounding.answer_kinds import answer_kinds
from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.grounding.quotes import best_quotes
from services.chat_api.domain.passages import Passage
from tests.support.gate_passages import make_passage

pytestmark = [pytest.mark.unit, pytest.mark.p0]

PARKING = "There are 120 parking spaces, and parking is free. Lorries use the yard of hall 2."
LIMITS = (
    "Purchases up to 500 euros are approved by the team lead.\n"
    "Purchases from 500 to 10,000 euros are approved by the head of department.\n"
    "Purchases above 10,000 euros are approved by Finance."
)


def texts(question: str, *passages: Passage) -> list[str]:
    return [quote.text for quote in best_quotes(question, passages)]


def test_a_name_that_no_passage_knows_is_not_answered_with_another_place() -> None:
    passage = make_passage(1, "Parking", PARKING)

    assert texts("How many parking spaces are there?", passage) == [PARKING.partition(". ")[0] + "."]
    assert texts("How many parking spaces are there in Berlin?", passage) == []


def test_what_is_said_of_the_same_product_is_no_answer_by_that_alone() -> None:
    passage = make_passage(1, "HX-200", "The HX-200 measures humidity. The list price of the HX-200 is 318 euros.")

    assert texts("What is the battery life of the HX-200?", passage) == []


@pytest.mark.parametrize(
    ("amount", "who"), [("400", "team lead"), ("5,000", "head of department"), ("20,000", "Finance")]
)
def test_an_amount_is_looked_up_in_the_range_that_holds_it(amount: str, who: str) -> None:
    first = texts(f"Who approves a purchase of {amount} euros?", make_passage(1, "Limits", LIMITS))[0]

    assert who in first


@pytest.mark.parametrize(
    ("code", "asked", "said"),
    [
        ("en", "5,000 euros", "500 to 10,000 euros"),
        ("de", "5.000 Euro", "von 500 bis 10.000 Euro"),
        ("ru", "5000 рублей", "от 500 до 10000 рублей"),
        ("zh", "5000美元", "500至10000美元"),
    ],
)
def test_ranges_are_read_in_every_language(code: str, asked: str, said: str) -> None:
    data = load_language(code)
    tokens = analyse(asked, data).tokens

    if not any(token.unit for token in tokens):
        pytest.fail(f"no unit read in {asked}")
    assert amounts_met(tokens, analyse(said, data))
    assert not amounts_met(tokens, analyse(said.replace("5", "7", 1).replace("10", "4", 1), data))


def test_an_amount_of_another_unit_is_not_in_a_range() -> None:
    data = load_language("en")

    assert not amounts_met(analyse("5,000 dollars", data).tokens, analyse("500 to 10,000 euros", data))


@pytest.mark.parametrize("title", ["Laptops (2024 edition)", "Laptops, archived", "Laptops until 2024"])
def test_a_superseded_page_is_quoted_after_the_current_one(title: str) -> None:
    old = make_passage(1, title, "Laptops are renewed every 3 years.")
    new = make_passage(2, "Laptops", "Laptops are renewed every 4 years.")

    assert texts("How often are laptops renewed?", old, new)[0] == new.text


def test_a_superseded_page_is_quoted_where_nothing_else_answers_or_it_is_asked_for() -> None:
    old = make_passage(1, "Laptops (2024 edition)", "Laptops are renewed every 3 years.")
    new = make_passage(2, "Laptops", "Laptops are renewed every 4 years.")

    assert texts("How often are laptops renewed?", old) == [old.text]
    assert texts("How often were laptops renewed in the 2024 edition?", old, new)[0] == old.text


def test_a_page_that_replaces_an_older_one_is_not_outdated_itself() -> None:
    new = make_passage(1, "Laptops", "Replaces the page of 2024.\n\nLaptops are renewed every 4 years.")
    old = make_passage(2, "Old laptops", "This page was superseded.\n\nLaptops are renewed every 3 years.")

    assert "4 years" in texts("How often are laptops renewed?", old, new)[0]


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "When does the lease of the office end?",
            "The lease of the office is long. The lease ends on 3 May.",
            "3 May",
        ),
        ("How much does the sensor cost?", "The sensor has 3 wires. The price of the sensor is 98 euros.", "98 euros"),
        (
            "Where is the office of the doctor?",
            "The doctor has an office. The office of the doctor is on the first floor.",
            "first floor",
        ),
        ("Wie lange gilt die Garantie?", "Die Garantie gilt oft. Die Garantie gilt 3 Jahre.", "3 Jahre"),
        ("Сколько стоит датчик?", "Датчик имеет 3 провода. Датчик стоит 98 евро.", "98 евро"),
        ("密码最长可以用多久？", "密码可以更换。密码最长可以用90天。", "90天"),
    ],
)
def test_the_kind_of_answer_that_is_asked_for_is_preferred(question: str, text: str, answer: str) -> None:
    assert answer in texts(question, make_passage(1, "Page", text))[0]


def test_a_price_answers_a_question_of_cost_without_its_word() -> None:
    kinds = answer_kinds("How much does a calibration cost?", load_language("en"))

    assert kinds.wants == {"money"}
    assert kinds.words == {"cost"}


def test_a_heading_lends_its_words_to_the_sentences_under_it() -> None:
    passage = make_passage(1, "Handbook", "# Parental leave\n\nEach parent may take up to 14 months.")

    assert texts("How long is parental leave?", passage) == ["Each parent may take up to 14 months."]


def test_a_sentence_that_goes_on_from_another_is_quoted_with_it() -> None:
    text = "Oxygen chambers stand in hall 2. Carbon monoxide poisoning is treated using them."

    assert texts("What is carbon monoxide poisoning treated with?", make_passage(1, "Air", text)) == [text]


def test_irregular_forms_of_a_word_are_one_word() -> None:
    passage = make_passage(1, "Expenses", "Receipts are uploaded. If a receipt is lost, use form F-7.")

    assert texts("What happens if I lose a receipt?", passage) == ["If a receipt is lost, use form F-7."]


def test_a_number_is_not_taken_for_one_that_begins_alike() -> None:
    passage = make_passage(1, "Rooms", "Room 5000 is a store. Room 500 has a screen and 8 seats.")

    assert "Room 5000" not in " ".join(texts("How many seats does room 500 have?", passage))


def test_every_sentence_of_a_pasted_mail_is_a_quotation() -> None:
    passage = make_passage(
        1, "Letters", "> Thank you. The contract is extended to 2032. We would be sorry to lose you."
    )

    assert texts("To when is the contract extended?", passage) == []


def test_words_that_people_use_for_one_another_are_understood() -> None:
    passage = make_passage(1, "Annual leave", "Every employee has 28 days of annual leave per year.")

    for question in ("How many vacation days do I get?", "How many days of holiday do I have?"):
        assert texts(question, passage) == ["Every employee has 28 days of annual leave per year."]
    assert texts("How many salary days do I get?", passage) == []
