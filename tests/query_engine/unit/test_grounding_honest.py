"""What the passages say comes out, also shortened, reordered, rephrased or sloppily marked."""

import pytest

from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.grounding.segmenter import split_text
from tests.support.gate_passages import ENGLISH, PACKED, QUESTIONS, make_passage, pass_through

pytestmark = [pytest.mark.unit, pytest.mark.p0]

TRUTHS = {
    "en": [
        "You get 28 days of paid annual leave per year if you are a full-time employee.",
        "As a full-time employee, you are entitled to 28 days of paid annual leave [1].",
        "Full-time staff receive twenty-eight days of paid annual leave each year [1].",
        "According to the leave policy, full-time employees receive 28 days of paid annual leave per year [1].",
        "**Answer:** 28 days of paid annual leave per year [1].",
        "28 days [1].",
        "Requests must be made through the HR portal at least 2 weeks in advance [1].",
        "Unused days can't be carried over to the next year [1].",
        "The daily allowance for Berlin trips is €1500 [2].",
        "Hotel costs are covered up to $250 a night [2].",
        "The policy has been in effect since May 3, 2021 [2].",
        "The policy took effect on 2021-05-03 [2].",
        "Travel costs will be reimbursed within 30 days, and you can contact Anna Schmidt (travel@acme.example) [2].",
        "Use form TR-204 [2].",
        "Exceptions may be approved by managers in writing [1].",
        "Managers can approve exceptions in writing [1].",
    ],
    "de": [
        "Vollzeitbeschäftigte haben 28 Tage bezahlten Jahresurlaub [1].",
        "Als Vollzeitbeschäftigte erhalten Sie achtundzwanzig Tage Jahresurlaub.",
        "Der Urlaub muss mindestens 2 Wochen im Voraus beantragt werden [1].",
        "Die Tagespauschale beträgt 1500 € [2].",
        "Die Richtlinie gilt seit dem 03.05.2021 [2].",
        "Die Reisekosten werden innerhalb von 30 Tagen erstattet, Ansprechpartnerin ist Anna Schmidt [2].",
        "Nicht genommene Tage verfallen am 31. März [1].",
        "Laut Urlaubsregelung erhalten Vollzeitbeschäftigte 28 Tage Urlaub [1].",
    ],
    "ru": [
        "Сотрудники получают 28 дней оплачиваемого отпуска в год [1].",
        "Штатным сотрудникам предоставляется 28 дней оплачиваемого отпуска [1].",
        "Заявление нужно подать не менее чем за 2 недели через портал отдела кадров [1].",
        "Суточные составляют 1500 рублей [2].",
        "Расходы возмещаются в течение тридцати дней [2].",
        "Правила действуют с 03.05.2021 [2].",
        "Неиспользованные дни не переносятся [1].",
        "Контактное лицо — Анна Шмидт [2].",
    ],
    "zh": [
        "全职员工每年有28天带薪年假[1]。",
        "全职员工每年享有二十八天带薪年假。",
        "休假必须至少提前2周通过人事系统申请[1]。",
        "未使用的假期不能结转[1]。",
        "每日津贴为1,500元[2]。",
        "联系人是安娜·施密特[2]。",
        "该制度自2021年5月3日起生效[2]。",
        "差旅费用将在30天内报销[2]。",
    ],
}


@pytest.mark.parametrize(("language", "truth"), [(code, text) for code, texts in TRUTHS.items() for text in texts])
def test_a_supported_sentence_is_released_with_its_citation(language: str, truth: str) -> None:
    answer = pass_through(truth, PACKED[language], QUESTIONS[language])

    assert answer.text != "", answer.reasons
    assert answer.reasons == ()
    assert answer.text.rstrip().endswith(f"[{answer.cited[0]}]")
    assert len(answer.cited) == 1


@pytest.mark.req("GROUND-6")
@pytest.mark.parametrize("language", PACKED)
def test_every_passage_sentence_passes_unmarked_under_its_own_record(language: str) -> None:
    for passage in PACKED[language]:
        for segment in split_text(passage.text, load_language(language)):
            if segment.kind == "sentence":
                answer = pass_through(segment.text, PACKED[language], "")
                assert answer.cited == (passage.n,), segment.text


def test_two_facts_of_two_records_in_one_sentence_cite_both() -> None:
    answer = pass_through(
        "Full-time employees receive 28 days of paid annual leave per year, "
        "and travel costs are reimbursed within 30 days.",
        ENGLISH,
        "",
    )

    assert answer.text.endswith("within 30 days. [1][2]")
    assert answer.cited == (1, 2)


@pytest.mark.req("GROUND-6")
def test_a_fact_of_another_record_is_not_released_under_the_wrong_citation() -> None:
    answer = pass_through("Travel costs are reimbursed within 30 days [1].", ENGLISH, "")

    assert answer.text == ""
    assert answer.reasons == ("wrong_citation",)


def test_of_several_cited_records_only_the_supporting_one_is_listed() -> None:
    answer = pass_through("Travel costs are reimbursed within 30 days [1][2].", ENGLISH, "")

    assert answer.text == "Travel costs are reimbursed within 30 days. [2]"
    assert answer.cited == (2,)


def test_equally_good_records_attribute_to_the_first_packed_one() -> None:
    twins = [make_passage(n, "Hours", "The office opens at nine o'clock.") for n in (3, 5)]

    assert pass_through("The office opens at nine o'clock.", twins, "").cited == (3,)


def test_the_citation_is_supported_by_the_chunk_that_says_it() -> None:
    chunks = [
        make_passage(1, "Leave", "Managers may approve exceptions in writing.", chunk_id="first"),
        make_passage(1, "Leave", "Full-time employees receive 28 days of paid leave.", chunk_id="second"),
    ]
    gate = pass_through("Full-time employees receive 28 days of paid leave [1].", chunks, "").gate

    support = gate.support(1)
    assert support is not None
    assert support.chunk_id == "second"
    assert support.quote == "Full-time employees receive 28 days of paid leave."
    assert gate.support(2) is None


def test_a_sentence_is_released_before_the_next_one_is_complete() -> None:
    gate = GroundingGate("", ENGLISH)
    first = gate.feed("Unused days do not carry over to the next year [1]. And ")

    assert [piece.citations for piece in first] == [(1,)]
    assert gate.finish() == []


@pytest.mark.req("GROUND-1", "GROUND-6")
def test_a_table_row_must_say_what_one_row_says() -> None:
    fees = make_passage(
        1,
        "Fees",
        "| Service | Basic fee | Premium fee |\n|---|---|---|\n"
        "| Storage | 10 euros | 20 euros |\n| Backup | 30 euros | 40 euros |",
    )

    for truth in ("The basic fee for storage is 10 euros.", "Backup has a premium fee of 40 euros."):
        assert pass_through(truth, [fees], "").cited == (1,), truth
    for lie in (
        "The basic fee for storage is 30 euros.",
        "The basic fee for storage is 20 euros.",
        "Backup has a premium fee of 20 euros.",
    ):
        assert pass_through(lie, [fees], "").text == "", lie


def test_rows_of_an_answered_table_are_checked_one_by_one() -> None:
    fees = make_passage(1, "Fees", "| Service | Fee |\n|---|---|\n| Storage | 10 euros |\n| Backup | 30 euros |")
    table = "| Service | Fee |\n|---|---|\n| Storage | 10 euros |\n| Backup | 10 euros |"

    answer = pass_through(table, [fees], "What are the fees per service?")

    assert answer.text == "| Service | Fee |\n|---|---|\n| Storage | 10 euros [1] |"
