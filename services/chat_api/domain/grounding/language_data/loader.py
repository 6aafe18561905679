"""Reads a language's data file once."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import Stemmer

LANGUAGES = ("en", "ru", "de", "zh")

Phrase = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class LanguageData:
    """Word lists are casefolded; phrases are keyed by their first word.

    `light` and `forms` are stems: words that tell little in a question, and forms of one word that are far apart, or
    words used for one another.
    `quoting` reads folded text; `sure` is how much of a question (see quote_scoring) a quotation must meet.
    """

    code: str
    decimal: str
    date_order: str
    stop_words: frozenset[str]
    framing: frozenset[str]
    pronouns: frozenset[str]
    negations: frozenset[str]
    neutral_phrases: tuple[tuple[str, ...], ...]
    abbreviations: frozenset[str]
    numeric_abbreviations: frozenset[str]
    closing_abbreviations: frozenset[str]
    conjunctions: frozenset[str]
    determiners: frozenset[str]
    passive: frozenset[str]
    noun_endings: tuple[str, ...]
    ordinary: frozenset[str]
    weekdays: tuple[str, ...]
    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    scales: Mapping[str, int]
    months: Mapping[str, int]
    units: Mapping[str, str]
    strict: Mapping[str, tuple[Phrase, ...]]
    polar: Mapping[str, frozenset[str]]
    transliteration: frozenset[str]
    asking: Mapping[str, tuple[str, ...]]
    light: frozenset[str]
    sure: float
    forms: Mapping[str, frozenset[str]]
    quoting: Mapping[str, re.Pattern[str]]
    stem: Callable[[str], str]


def fold(text: str) -> str:
    return text.casefold().replace("ё", "е")


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(text).split())


def _phrases(table: Mapping[str, list[str]]) -> dict[str, tuple[Phrase, ...]]:
    by_first: dict[str, list[Phrase]] = {}
    for category, forms in table.items():
        for form in forms:
            words = tuple(fold(form).split())
            by_first.setdefault(words[0], []).append((words, category))
    return {first: tuple(sorted(phrases, key=lambda p: -len(p[0]))) for first, phrases in by_first.items()}


def _polar(pairs: list[str], stem: Callable[[str], str]) -> dict[str, frozenset[str]]:
    opposites: dict[str, set[str]] = {}
    for pair in pairs:
        left, right = (stem(word.replace("ß", "ss")) for word in fold(pair).split())
        if left == right:
            continue
        opposites.setdefault(left, set()).add(right)
        opposites.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in opposites.items()}


def _forms(families: list[str], stem: Callable[[str], str]) -> dict[str, frozenset[str]]:
    """Forms of one word that the stemmer takes for several, and words that people use for one another."""
    found: dict[str, frozenset[str]] = {}
    for family in families:
        stems = frozenset(stem(word.replace("ß", "ss")) for word in fold(family).split())
        found.update({word: found.get(word, frozenset()) | stems for word in stems})
    return found


def _make_stem(algorithm: str) -> Callable[[str], str]:
    if not algorithm:
        return str
    stemmer = Stemmer.Stemmer(algorithm)

    @lru_cache(maxsize=65_536)
    def stem(word: str) -> str:
        return str(stemmer.stemWord(word))

    return stem


@lru_cache(maxsize=16)
def load_language(code: str) -> LanguageData:
    """The data of one of `LANGUAGES`; an unknown code raises FileNotFoundError."""
    raw = tomllib.loads((files(__package__) / f"{code}.toml").read_text(encoding="utf-8"))
    stem = _make_stem(raw["stemmer"])
    return LanguageData(
        code=code,
        decimal=raw["decimal"],
        date_order=raw["date_order"],
        stop_words=_words(raw["stop_words"]),
        framing=_words(raw["framing"]),
        pronouns=_words(raw["pronouns"]),
        negations=_words(raw["negations"]),
        neutral_phrases=tuple(tuple(fold(phrase).split()) for phrase in raw["neutral_phrases"]),
        abbreviations=_words(raw["abbreviations"]),
        numeric_abbreviations=_words(raw["numeric_abbreviations"]),
        closing_abbreviations=_words(raw["closing_abbreviations"]),
        determiners=_words(raw["determiners"]),
        conjunctions=_words(raw["conjunctions"]),
        passive=_words(raw["passive"]),
        noun_endings=tuple(raw["noun_endings"].split()),
        ordinary=_words(raw["ordinary"]),
        weekdays=tuple(fold(day) for day in raw["weekdays"]),
        numbers={fold(word): value for word, value in raw["numbers"].items()},
        ordinals={fold(word): value for word, value in raw["ordinals"].items()},
        scales={fold(word): value for word, value in raw["scales"].items()},
        months={fold(word): value for word, value in raw["months"].items()},
        units={form: unit for unit, forms in raw["units"].items() for form in fold(forms).split()},
        strict=_phrases(raw["strict"]),
        polar=_polar(raw["polar"]["pairs"], stem),
        transliteration=frozenset(raw.get("transliteration", "")),
        asking={kind: tuple(patterns) for kind, patterns in raw["asking"].items()},
        light=frozenset(stem(word.replace("ß", "ss")) for word in _words(raw["quoting"].pop("light"))),
        sure=raw["quoting"].pop("sure"),
        forms=_forms(raw["quoting"].pop("forms"), stem),
        quoting={kind: re.compile("|".join(patterns)) for kind, patterns in raw["quoting"].items()},
        stem=stem,
    )
