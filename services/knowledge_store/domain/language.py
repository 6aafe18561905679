"""Which language a text is in, as far as stemming needs to know it: by script, then by function words."""

import re
from typing import Literal

from services.knowledge_store.domain.stop_words import BY_LANGUAGE, ENGLISH, GERMAN
from services.knowledge_store.domain.words import CJK, index_words

Language = Literal["en", "de", "ru", "cjk", "other"]

LANGUAGES: tuple[Language, ...] = ("en", "de", "ru", "cjk", "other")

# PostgreSQL ships no Chinese or Japanese configuration: their bigrams need no stemming.
TEXT_SEARCH_CONFIGURATION: dict[Language, str] = {
    "en": "english",
    "de": "german",
    "ru": "russian",
    "cjk": "simple",
    "other": "simple",
}

_CJK_CHARACTER = re.compile(f"[{CJK}]")
_CYRILLIC_CHARACTER = re.compile("[\u0400-\u04ff]")
_LATIN_CHARACTER = re.compile("[A-Za-z\u00c0-\u024f]")
_SAMPLE_CHARACTERS = 4_000
_MIN_FUNCTION_WORD_SHARE = 0.08


def detect_language(text: str, fallback: Language = "other") -> Language:
    """The language of `text`; `fallback` where a text is too short to tell (a product name, a table of numbers)."""
    sample = text[:_SAMPLE_CHARACTERS]
    # One CJK character says about as much as two letters.
    cjk = 2 * len(_CJK_CHARACTER.findall(sample))
    cyrillic = len(_CYRILLIC_CHARACTER.findall(sample))
    latin = len(_LATIN_CHARACTER.findall(sample))
    if cjk > max(cyrillic, latin):
        return "cjk"
    if cyrillic > latin:
        return "ru"
    return _detect_latin(sample, fallback) if latin else fallback


def _detect_latin(sample: str, fallback: Language) -> Language:
    words = index_words(sample)
    english = sum(word in ENGLISH for word in words)
    german = sum(word in GERMAN for word in words)
    if max(english, german) < max(1.0, _MIN_FUNCTION_WORD_SHARE * len(words)) or english == german:
        return "de" if re.search("[äöüß]", sample.lower()) and fallback == "other" else fallback
    return "en" if english > german else "de"


def content_words(text: str, language: Language) -> list[str]:
    """The index words of a question without its function words; all of them if nothing else is left."""
    words = index_words(text)
    stop_words = BY_LANGUAGE[language]
    return [word for word in words if word not in stop_words] or words
