"""What the packed passages do not say does not come out."""

import pytest

from tests.support.gate_passages import ENGLISH, PACKED, QUESTIONS, make_passage, pass_through

pytestmark = [pytest.mark.unit, pytest.mark.p0]

LIES = {
    "en": [
        "Full-time employees receive 30 days of paid annual leave per year [1].",
        "Full-time employees receive thirty days of paid annual leave per year [1].",
        "Part-time employees receive 28 days of paid annual leave per year [1].",
        "Leave must be requested at least three weeks in advance [1].",
        "Unused days carry over to the next year [1].",
        "All employees receive 28 days of paid annual leave [1].",
        "Only managers receive 28 days of paid annual leave [1].",
        "Leave may be requested at most two weeks in advance [1].",
        "Leave must not be requested through the HR portal [1].",
        "Managers must approve exceptions in writing [1].",
        "Contact Bob Miller at travel@acme.example [2].",
        "Contact Anna Schmidt at billing@acme.example [2].",
        "See form TR-205 [2].",
        "The policy took effect on 4 May 2021 [2].",
        "The policy took effect on 3 June 2021 [2].",
        "The policy took effect on 2021-05-04 [2].",
        "The daily allowance is 1,500 dollars for trips to Berlin [2].",
        "The daily allowance is 1,500 euros for trips to Paris [2].",
        "Travel costs are reimbursed within 30 weeks [2].",
        "You can read more at https://elsewhere.example/leave [1].",
        "Paris is the capital of France [1].",
        "Water boils at 100 degrees.",
        "Napoleon died on Saint Helena.",
    ],
    "de": [
        "Vollzeitbeschäftigte erhalten 30 Tage bezahlten Jahresurlaub [1].",
        "Vollzeitbeschäftigte erhalten dreißig Tage bezahlten Jahresurlaub [1].",
        "Teilzeitbeschäftigte erhalten 28 Tage bezahlten Jahresurlaub [1].",
        "Der Urlaub muss höchstens zwei Wochen im Voraus beantragt werden [1].",
        "Die Tagespauschale beträgt 1.500 Dollar [2].",
        "Ansprechpartnerin ist Petra Müller [2].",
        "Nicht genommene Tage verfallen nicht am 31. März [1].",
        "Nicht genommene Tage verfallen am 31. Mai des Folgejahres [1].",
        "Die Richtlinie gilt seit dem 3. Juni 2021 [2].",
        "Berlin ist die Hauptstadt von Deutschland.",
    ],
    "ru": [
        "Штатные сотрудники получают 30 дней оплачиваемого отпуска в год [1].",
        "Штатные сотрудники получают тридцать дней оплачиваемого отпуска в год [1].",
        "Внештатные сотрудники получают 28 дней оплачиваемого отпуска в год [1].",
        "Неиспользованные дни переносятся на следующий год [1].",
        "Заявление необходимо подать не более чем за две недели через портал [1].",
        "Суточные составляют 1 500 долларов [2].",
        "Контактное лицо — Иван Петров [2].",
        "Правила действуют с 4 мая 2021 года [2].",
        "Правила действуют с 3 июня 2021 года [2].",
        "Москва — столица России.",
    ],
    "zh": [
        "全职员工每年享有30天带薪年假[1]。",
        "全职员工每年享有三十天带薪年假[1]。",
        "兼职员工每年享有28天带薪年假[1]。",
        "未使用的假期可以结转到下一年[1]。",
        "休假最多提前两周申请[1]。",
        "每日津贴为1500美元[2]。",
        "联系人是鲍勃·米勒[2]。",
        "该制度自2021年6月3日起生效[2]。",
        "差旅费用在30周内报销[2]。",
        "北京是中国的首都。",
    ],
}


@pytest.mark.req("GROUND-1", "GROUND-6")
@pytest.mark.parametrize(("language", "lie"), [(code, lie) for code, lies in LIES.items() for lie in lies])
def test_what_no_passage_says_is_not_released(language: str, lie: str) -> None:
    answer = pass_through(lie, PACKED[language], QUESTIONS[language])

    assert answer.text == ""
    assert len(answer.reasons) == 1
    assert answer.cited == ()


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize("language", PACKED)
def test_a_lie_without_a_marker_is_not_released_either(language: str) -> None:
    for lie in LIES[language]:
        unmarked = lie.replace("[1]", "").replace("[2]", "")
        assert pass_through(unmarked, PACKED[language], QUESTIONS[language]).text == "", unmarked


_DISGUISES = [
    "The team has １９ people.",
    "The team has ¹⁹ people.",
    "The team has ③ people.",
    "The team has ١٣ people.",
    "The team has 1\u200b3 people.",
    "The team has 12\u202e31 people.",
    "The team has &#49;3 people.",
    "The team has 1<b>3</b> people.",
    "The team has 1**3** people.",
    "The team has XII people.",
    "The team has twelve hundred people.",
    "The team has thousands of people.",
    "The team has half of the people.",
    "The team has 12k people.",
    "The team has 12 million people.",
    "The team has 12,000 people.",
    "The team has 1.2 people.",
    "The team has -12 people.",
    "The team has 12% people.",
    "The team has $12 people.",
    "The team has 12 people and sells 12 products.",
    "The team has 3 people and sells 12 products.",
    "The team has 12 people, call +49 30 123456.",
    "Support is open from 9 am to 6 pm.",
    "Contracts run for 24 months.",
    "Contracts run for two decades.",
    "Acme was founded in Berlin by Anna Schmidt in nineteen forty-five.",
    "Acme was founded in Berlin by Anna Meier.",
    "Dr. Anna Schmidt from Harvard founded Acme in Berlin.",
    "```\n13\n```",
    "`13`",
    "# 13 people",
    "**13**",
    "| a | 13 |",
    "- 13",
]


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize("lie", _DISGUISES)
def test_an_invented_number_or_name_in_disguise_is_not_released(lie: str) -> None:
    acme = make_passage(
        1,
        "Acme handbook",
        "Acme was founded in Berlin by Anna Schmidt. The team has 12 people and sells 3 products. "
        "Support is open from 9:00 to 17:00. Contracts run for two years.",
    )

    assert pass_through(f"{lie}\n", [acme], "How big is the team?").text == ""


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize(
    ("text", "lie"),
    [
        ("Музей Виктории и Альберта основан в 1852 году.", "Музей Как и Альберта основан в 1852 году [1]."),
        (
            "Jean Cauvin (John Calvin) studierte an der Universität.",
            "Jean Cauvin (John Reformation) studierte an der Universität [1].",
        ),
        ("Die Börse wurde im April 1991 wieder eröffnet.", "Die Börse wurde im Bilateria 1991 wieder eröffnet [1]."),
        (
            "Im November schrieb Luther ein Urteil über das Gelübde.",
            "Im Energieprojekt schrieb Luther ein Urteil über das Gelübde [1].",
        ),
    ],
    ids=["small word for a name", "noun for a surname", "noun for a month", "noun for a month at the start"],
)
def test_a_word_in_the_place_of_a_name_or_month_is_not_released(text: str, lie: str) -> None:
    passage = make_passage(1, "", text)
    assert pass_through(lie, [passage], "?").text == ""
    assert pass_through(f"{text} [1]", [passage], "?").text == f"{text} [1]"


def test_the_number_before_a_list_item_is_counted_and_not_taken_over() -> None:
    answer = pass_through(
        "1945. Unused days do not carry over.\n97. Travel costs are reimbursed within 30 days.", ENGLISH, ""
    )

    assert "1945" not in answer.text
    assert "97" not in answer.text
    assert answer.text.endswith("1. Travel costs are reimbursed within 30 days. [2]")


@pytest.mark.req("GROUND-1")
def test_the_question_alone_licenses_no_number_and_no_name() -> None:
    question = "Is it true that Napoleon gets 45 days of annual leave?"

    for lie in ("Napoleon gets 28 days of annual leave.", "Full-time employees receive 45 days of paid annual leave."):
        assert pass_through(lie, ENGLISH, question).text == ""


@pytest.mark.req("GROUND-4")
def test_the_covered_part_is_answered_and_the_rest_is_left_out() -> None:
    answer = pass_through(
        "Full-time employees receive 28 days of paid annual leave [1]. Contractors receive 10 days of leave.",
        ENGLISH,
        "How much leave do employees and contractors get?",
    )

    assert answer.text == "Full-time employees receive 28 days of paid annual leave. [1]"
    assert len(answer.reasons) == 1


def test_an_answer_in_another_language_is_held_back_with_its_reason() -> None:
    answer = pass_through("Штатные сотрудники получают оплачиваемый отпуск.", ENGLISH, "Какой у меня отпуск?")

    assert answer.text == ""
    assert answer.reasons == ("other_language",)


def test_rejections_carry_a_hash_and_never_the_text() -> None:
    gate = pass_through("Full-time employees receive 30 days of paid annual leave [1].", ENGLISH, "").gate

    (rejection,) = gate.rejections
    assert len(rejection.sentence_hash) == 64
    assert set(rejection.sentence_hash) <= set("0123456789abcdef")
    assert rejection.cited == (1,)
