"""Which language a text is in, and that each language's data is complete."""

import pytest

from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.language_data.loader import LANGUAGES, load_language
from services.chat_api.domain.grounding.transliteration import sound_key

pytestmark = [pytest.mark.unit, pytest.mark.p0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("How many days of leave do I get?", "en"),
        ("Wie viele Urlaubstage habe ich?", "de"),
        ("Was kostet das Parken?", "de"),
        ("Сколько дней отпуска мне положено?", "ru"),
        ("年假有多少天？", "zh"),
        ("iPhone 的保修期是多久？", "zh"),
        ("Где лежит README?", "ru"),
        ("", "en"),
        ("VPN", "en"),
        ("404", "en"),
    ],
)
def test_the_language_is_told_by_script_and_function_words(text: str, code: str) -> None:
    assert detect_language(text) == code


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_the_same_kinds_of_data(code: str) -> None:
    data, english = load_language(code), load_language("en")

    assert data.negations
    assert data.stop_words
    assert {category for phrases in english.strict.values() for _words, category in phrases} == {
        category for phrases in data.strict.values() for _words, category in phrases
    }
    assert set(english.units.values()) - set(data.units.values()) <= {
        "kb",
        "gb",
        "tb",
        "mb",
        "mw",
        "kw",
        "inch",
        "sterling",
    }
    assert set(data.asking) == {"number", "date", "name", "other", "quantity", "choice"}
    assert code == "zh" or set(data.months.values()) == set(range(1, 13))


def test_opposites_point_at_each_other() -> None:
    for code in LANGUAGES:
        polar = load_language(code).polar
        assert all(word in polar[other] for word, others in polar.items() for other in others)


@pytest.mark.parametrize(
    ("latin", "cyrillic"), [("Schmidt", "Шмидт"), ("Warner", "Варнер"), ("Tesla", "Тесла"), ("Luther", "Лутер")]
)
def test_a_name_sounds_the_same_in_two_scripts(latin: str, cyrillic: str) -> None:
    assert sound_key(latin) == sound_key(cyrillic)
