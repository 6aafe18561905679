"""Which of the supported languages a text is written in."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from services.chat_api.domain.grounding.language_data.loader import fold, load_language

Language = Literal["en", "ru", "de", "zh"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_CYRILLIC = re.compile(r"[а-яёА-ЯЁ]")
_LATIN = re.compile(r"[A-Za-zÀ-ÿ]")
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 1_500


def detect_language(text: str) -> Language:
    """`en` when unsure."""
    return recognise_language(text) or "en"


@lru_cache(maxsize=4_096)
def recognise_language(text: str) -> Language | None:
    """By script and stop words, over the first 1,500 characters; None where neither says anything."""
    sample = text[:_SAMPLE]
    han, cyrillic, latin = (sum(1 for _ in pattern.finditer(sample)) for pattern in (_HAN, _CYRILLIC, _LATIN))
    # A Chinese character is about a syllable and a half of a Latin word, so it weighs three letters.
    if han * 3 > latin and han * 3 > cyrillic:
        return "zh"
    if cyrillic > latin:
        return "ru"
    words = list(_words(sample))
    german = sum(word in _only("de") for word in words) + sum(any(char in "äöüß" for char in word) for word in words)
    english = sum(word in _only("en") for word in words)
    if not german and not english:
        return None
    return "de" if german > english else "en"


def _words(text: str) -> Iterator[str]:
    return (fold(match.group()) for match in _WORD.finditer(text))


@lru_cache(maxsize=4)
def _only(code: str) -> frozenset[str]:
    """Function words of one of English and German that the other lacks."""
    other = load_language("de" if code == "en" else "en")
    own = load_language(code)
    return (own.stop_words | own.negations) - other.stop_words - other.negations
