"""A sentence in another language than its passages: what stays strict, and what is left to a judge."""

import pytest

from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.grounding.joining import Joined
from services.chat_api.domain.grounding.release import JudgeScope, ReleasedText
from services.chat_api.domain.passages import Passage
from tests.support.gate_passages import CHINESE, ENGLISH, GERMAN, RUSSIAN, make_passage

pytestmark = [pytest.mark.unit, pytest.mark.p0]

_ASKED = {
    "de": "Wie viel Urlaub gibt es?",
    "ru": "Сколько дней отпуска?",
    "en": "How much leave?",
    "zh": "年假有多少天？",
}


def _gate(
    answer: str, passages: tuple[Passage, ...], asked: str, scope: JudgeScope | None = "other_language"
) -> tuple[list[ReleasedText], list[str]]:
    gate = GroundingGate(_ASKED[asked], passages, scope)
    released = gate.feed(answer) + gate.finish()
    return released, [rejection.reason.value for rejection in gate.rejections]


@pytest.mark.parametrize(
    ("asked", "passages", "sentence"),
    [
        ("de", ENGLISH, "Vollzeitbeschäftigte haben 28 Tage bezahlten Urlaub im Jahr."),
        ("de", ENGLISH, "Der Urlaub muss mindestens zwei Wochen vorher beantragt werden."),
        ("ru", ENGLISH, "Штатные сотрудники получают 28 дней отпуска в год."),
        ("zh", ENGLISH, "全职员工每年有28天带薪年假。"),
        ("en", GERMAN, "Travel costs are paid back within 30 days."),
        ("ru", GERMAN, "Контактное лицо — Анна Шмидт, правила действуют с 3 мая 2021 года."),
        ("en", RUSSIAN, "The contact is Anna Schmidt."),
        ("en", CHINESE, "Every full-time employee has 28 days of leave."),
        ("en", CHINESE, "Unused leave does not carry over."),
    ],
)
def test_a_sentence_in_another_language_goes_to_the_judge_with_its_passage(
    asked: str, passages: tuple[Passage, ...], sentence: str
) -> None:
    released, reasons = _gate(sentence, passages, asked)
    assert reasons == []
    claim = released[0].claim
    assert claim is not None
    assert claim.sentence == sentence
    assert len(claim.evidence) == 1
    assert any(passage.text in claim.evidence[0] for passage in passages)


@pytest.mark.req("GROUND-1")
@pytest.mark.parametrize(
    ("asked", "passages", "sentence", "reason"),
    [
        ("de", ENGLISH, "Vollzeitbeschäftigte haben 35 Tage bezahlten Urlaub im Jahr. [1]", "unknown_number"),
        ("ru", ENGLISH, "Штатные сотрудники получают тридцать пять дней отпуска. [1]", "unknown_number"),
        ("zh", ENGLISH, "全职员工每年有三十五天带薪年假。[1]", "unknown_number"),
        ("de", ENGLISH, "Es gibt 28 Wochen bezahlten Urlaub im Jahr. [1]", "unit_changed"),
        ("de", ENGLISH, "Vollzeitbeschäftigte haben 28 Tage Urlaub im Monat. [1]", "unit_changed"),
        ("en", GERMAN, "Costs are paid back within 28 days. [2]", "unknown_number"),
        ("en", GERMAN, "The policy took effect on 3 June 2021. [2]", "unknown_number"),
        ("ru", GERMAN, "Контактное лицо — Грегор Замза. [2]", "unknown_name"),
        ("en", RUSSIAN, "The contact is Anna Samsa. [2]", "unknown_name"),
        ("en", CHINESE, "The contact is Gregor Samsa. [2]", "unknown_name"),
        ("zh", ENGLISH, "联系人是格里高·萨姆沙。[2]", "unknown_name"),
        ("ru", ENGLISH, "Расходы в Париж возмещаются в течение 30 дней. [2]", "unknown_name"),
        ("en", GERMAN, "See form TR-205 there. [2]", "unknown_identifier"),
        ("de", ENGLISH, "Vollzeitbeschäftigte haben keine 28 Tage Urlaub im Jahr. [1]", "negation_changed"),
        ("en", GERMAN, "Read it at https://evil.example/x there. [1]", "unknown_identifier"),
    ],
)
def test_what_looks_alike_in_every_language_stays_strict_and_no_judge_is_asked(
    asked: str, passages: tuple[Passage, ...], sentence: str, reason: str
) -> None:
    released, reasons = _gate(sentence, passages, asked)
    assert released == []
    assert reason in reasons


@pytest.mark.req("GROUND-1")
def test_all_its_numbers_must_stand_in_one_cited_passage() -> None:
    split = "Es gibt 28 Tage Urlaub und 1.500 Euro Tagespauschale. [1][2]"
    released, reasons = _gate(split, ENGLISH, "de")
    assert (released, reasons) == ([], ["unknown_number"])


@pytest.mark.parametrize(
    ("asked", "text", "sentence"),
    [
        ("de", "The office in Munich is open.", "Das Büro in München ist offen. [1]"),
        ("ru", "The office in Warsaw is open.", "Офис в Варшаве открыт. [1]"),
        ("zh", "The German office is open.", "德国办事处开放。[1]"),
        ("en", "柏林办事处开放。", "The Berlin office is open. [1]"),
    ],
)
def test_a_translated_name_is_known_by_the_table(asked: str, text: str, sentence: str) -> None:
    released, reasons = _gate(sentence, (make_passage(1, "Office", text),), asked)
    assert reasons == []
    assert released[0].claim is not None


def test_without_a_judge_such_a_sentence_is_held_back_for_its_language() -> None:
    released, reasons = _gate("Der Urlaub muss beantragt werden. [1]", ENGLISH, "de", None)
    assert (released, reasons) == ([], ["other_language"])


@pytest.mark.parametrize("scope", ["other_language", "all"])
def test_a_judge_is_never_asked_to_overrule_the_gate_within_one_language(scope: JudgeScope) -> None:
    lies = "Full-time employees receive 35 days of paid annual leave per year [1]. Unused days carry over. [1]"
    released, _reasons = _gate(lies, ENGLISH, "en", scope)
    assert released == []


def test_a_judge_of_all_sentences_is_spared_the_verbatim_ones() -> None:
    verbatim = "Full-time employees receive 28 days of paid annual leave per year."
    shortened = "Full-time employees receive 28 days of annual leave per year."
    released, _reasons = _gate(f"{verbatim} [1] {shortened} [1]", ENGLISH, "en", "all")
    assert [piece.claim.sentence if piece.claim else None for piece in released] == [None, shortened]
    assert [piece.claim for piece in _gate(shortened, ENGLISH, "en")[0]] == [None]


def test_a_withdrawn_sentence_is_no_longer_cited() -> None:
    gate = GroundingGate(_ASKED["de"], ENGLISH, "other_language")
    released = gate.feed("Es gibt 28 Tage Urlaub im Jahr. [1] Kosten werden in 30 Tagen erstattet. [2]") + gate.finish()
    assert list(gate.cited) == [1, 2]
    gate.withdraw(released[0])
    assert list(gate.cited) == [2]
    assert gate.support(1) is None
    assert gate.rejections == []


def _piece(text: str, frames: str = "") -> ReleasedText:
    return ReleasedText(text, (1,), None, frames)


def test_dropped_pieces_leave_no_gap_and_no_lost_heading() -> None:
    first = Joined()
    first.drop(_piece("One. [1]"))
    assert first.release(_piece(" Two. [1]")) == "Two. [1]"

    listed = Joined()
    assert listed.release(_piece("Before. [1]")) == "Before. [1]"
    listed.drop(_piece("\n\nLeave:\n\n- One [1]", "\n\nLeave:"))
    assert listed.release(_piece("\n- Two [1]")) == "\n\nLeave:\n\n- Two [1]"
    listed.drop(_piece("\n\nThree. [1]"))
    assert listed.release(_piece(" Four. [1]")) == "\n\nFour. [1]"


def test_a_heading_whose_items_all_fell_is_not_kept_for_another() -> None:
    joined = Joined()
    joined.release(_piece("Before. [1]"))
    joined.drop(_piece("\n\n## A\n- One [1]", "\n\n## A"))
    assert joined.release(_piece("\n\n## B\n- Two [1]", "\n\n## B")) == "\n\n## B\n- Two [1]"
