"""Language and words: the right stemmer for each chunk, one tokenisation for questions and documents."""

import pytest

from services.knowledge_store.domain.language import Language, content_words, detect_language
from services.knowledge_store.domain.words import index_words

pytestmark = [pytest.mark.unit, pytest.mark.p1]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many days of leave do I have?", "en"),
        ("Wie viele Urlaubstage habe ich?", "de"),
        ("Сколько у меня дней отпуска?", "ru"),
        ("我有多少天年假？", "cjk"),
        ("有給休暇は何日ありますか", "cjk"),
        ("Combien de jours de congé ai-je par an selon la convention collective ?", "other"),
        ("VPN 2024", "other"),
        ("", "other"),
    ],
)
def test_language_is_told_by_script_and_function_words(text: str, language: Language) -> None:
    assert detect_language(text) == language


def test_text_too_short_to_tell_takes_the_fallback() -> None:
    assert detect_language("| A4 | 12 |", fallback="de") == "de"


def test_chinese_becomes_bigrams() -> None:
    assert index_words("年假28天，好") == ["年假", "28", "天", "好"]
    assert index_words("员工年假") == ["员工", "工年", "年假"]


def test_words_are_normalised() -> None:
    assert index_words("ＶＰＮ-Zugang für Ёлка_1") == ["vpn", "zugang", "für", "елка", "1"]


def test_function_words_of_a_question_are_dropped() -> None:
    assert content_words("How many days of leave do I have?", "en") == ["days", "leave"]
    assert content_words("Wie viele Urlaubstage habe ich?", "de") == ["urlaubstage"]


def test_question_of_function_words_only_keeps_them() -> None:
    assert content_words("Who are you?", "en") == ["who", "are", "you"]
