"""The rule by which the embedded answerer makes a follow-up understandable by itself."""

import pytest

from services.chat_api.domain.follow_ups import leans_on_history, standalone_question

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def _each(lines: str) -> list[str]:
    return [one.strip() for line in lines.strip().splitlines() for one in line.split("|")]


@pytest.mark.parametrize(
    "message",
    _each("""
        And in Berlin? | In Berlin? | For trainees? | How long? | Why? | Since when? | Who approves? | Per night?
        What about part-time? | How much for trainees? | Does it expire? | Without a receipt? | When exactly?
        Und in Berlin? | Für Azubis? | Wie lange? | Warum? | Wer genehmigt das? | Während der Probezeit? | Pro Nacht?
        А в Берлине? | В Берлине? | Для стажёров? | Сколько? | Почему? | Кто утверждает? | Без чека?
        那柏林呢？ | 柏林呢？ | 在柏林呢？ | 为什么？ | 多久？ | 实习生呢？ | 它什么时候到期？
    """),
)
def test_a_fragment_leans_on_the_question_before_it(message: str) -> None:
    assert leans_on_history(message)


@pytest.mark.parametrize(
    "message",
    _each("""
        What is the daily allowance in Germany? | Sick leave? | Parking | Where is parking? | What is Kubernetes?
        How does onboarding work? | In which city is the office? | For which trips are receipts needed?
        How many vacation days? | Who approves travel expenses? | annual leave
        Reisekosten? | Wie hoch ist der Tagessatz? | Für wen gilt die Reisekostenrichtlinie? | Wo parken Besucher?
        Какой размер суточных? | Больничный? | Где парковка для гостей? | Сколько дней отпуска?
        年假有几天？ | 差旅补贴是多少？ | 停车？ | 办公室在哪里？ | 病假怎么申请？
    """),
)
def test_a_question_of_its_own_is_searched_as_it_stands(message: str) -> None:
    assert standalone_question(message, ("How many days of annual leave do I have?",)) == message


@pytest.mark.parametrize(
    ("earlier", "message", "expected"),
    [
        ("How much annual leave do I have?", "And for trainees?", "How much annual leave do I have? And for trainees?"),
        (
            "What is the allowance in Munich for managers?",
            "In Berlin?",
            "What is the allowance for managers? In Berlin?",
        ),
        ("Wie hoch ist der Tagessatz in München?", "Und in Berlin?", "Wie hoch ist der Tagessatz? Und in Berlin?"),
        ("Какие суточные в Мюнхене?", "А в Берлине?", "Какие суточные? А в Берлине?"),
        ("慕尼黑的差旅补贴是多少？", "柏林呢？", "慕尼黑的差旅补贴是多少？ 柏林"),
    ],
)
def test_the_earlier_question_gives_what_the_follow_up_leaves_open(earlier: str, message: str, expected: str) -> None:
    assert standalone_question(message, (earlier,)) == expected


def test_a_chain_of_follow_ups_goes_back_to_the_question_that_began_it() -> None:
    earlier = ("What is the notice period?", "What is the daily allowance in Munich?", "And in Berlin?")
    assert standalone_question("And for trainees?", earlier) == (
        "What is the daily allowance? And in Berlin? And for trainees?"
    )


def test_without_an_earlier_question_a_fragment_stays_as_it_is() -> None:
    assert standalone_question("And in Berlin?", ()) == "And in Berlin?"
