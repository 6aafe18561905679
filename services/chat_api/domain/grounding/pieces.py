"""One matched chunk of text to its pieces: a word, its possessive, a number with its suffix, an identifier."""

import re
from dataclasses import dataclass
from functools import lru_cache

from services.chat_api.domain.grounding.language_data.loader import LanguageData, fold, load_language
from services.chat_api.domain.grounding.numbers import HAN_DIGITS, HAN_SCALES, compound_number, word_number_pieces

_MIXED = re.compile(r"(\d[\d.,]*?)[.,]?([^\W\d_]+)$")
_NUMBER_SUFFIXES = {"st", "nd", "rd", "th", "s", "er", "ern", "fach", "x", "й", "я", "е", "го", "му", "м", "х"}
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_DOMAIN = re.compile(r"[a-z0-9-]{2,}(?:\.[a-z0-9-]+)*\.[a-z]{2,}\Z")
_YEAR_TAIL = re.compile(r"[a-zà-ÿа-яё]{3,}-\d{4}s?\Z")
_SEPARATORS = re.compile(r"[-._/&@+]")


@dataclass(frozen=True, slots=True)
class Piece:
    """`value` is set for number words, `scale` for "million" and its like, `digits` for written digits; `special`
    tells that the word may be or begin a negation, a strict phrase, a pronoun or another mark; `simple` that it is
    none of all these, so that it is a word or nothing."""

    surface: str
    folded: str
    key: str = ""
    stop: bool = False
    negation: bool = False
    identifier: bool = False
    digits: str = ""
    value: int | None = None
    scale: int = 0
    ordinal: bool = False
    unit: str = ""
    month: int = 0
    capital: bool = False
    loud: bool = False
    han: bool = False
    sign: bool = False
    special: bool = False
    simple: bool = False
    determiner: bool = False
    framing: bool = False


def _stem(word: str, data: LanguageData) -> str:
    if _CYRILLIC.match(word):
        return load_language("ru").stem(word)
    if data.code in ("en", "de"):
        return data.stem(word.replace("ß", "ss"))
    return word


def _is_special(word: str, data: LanguageData) -> bool:
    marks = (data.pronouns, data.passive, data.conjunctions, data.negations, data.strict)
    return any(word in mark for mark in marks) or any(phrase[0] == word for phrase in data.neutral_phrases)


@lru_cache(maxsize=65_536)
def word_piece(word: str, code: str) -> Piece:
    data = load_language(code)
    folded = fold(word)
    loud = len(word) >= 2 and any(char.isupper() for char in word[1:])
    value = data.numbers.get(folded)
    ordinal = value is None and folded in data.ordinals
    if ordinal:
        value = data.ordinals[folded]
    if value is None and code == "de":
        value = compound_number(folded, code, word_number_pieces(data))
    acronym = loud and len(word) <= 3 and folded in data.stop_words
    key = _stem(folded, data) if not loud or len(word) > 5 else folded
    special = _is_special(folded, data)
    counts = value is not None or folded in data.scales or folded in data.units or folded in data.months
    return Piece(
        surface=word,
        folded=folded,
        key=key,
        stop=folded in data.stop_words and not acronym,
        negation=folded in data.negations,
        value=value,
        scale=data.scales.get(folded, 0),
        ordinal=ordinal,
        unit=data.units.get(folded, ""),
        month=data.months.get(folded, 0),
        capital=word[0].isupper(),
        loud=loud,
        special=special,
        simple=not counts and not special and key not in data.polar and folded not in data.weekdays,
        determiner=folded in data.determiners,
        framing=folded in data.framing,
    )


@lru_cache(maxsize=65_536)
def chunk_pieces(chunk: str, code: str) -> tuple[Piece, ...]:
    """A chunk that starts with a letter or has no grouping: words, contractions, identifiers."""
    data = load_language(code)
    folded = fold(chunk.replace("’", "'"))
    if folded.endswith("n't"):
        return word_piece(chunk[:-3] or "do", code), Piece(chunk[-3:], "n't", negation=True, special=True)
    if folded.endswith("'s"):
        chunk, folded = chunk[:-2], folded[:-2]
    if folded in data.abbreviations and "." in folded and not chunk.isupper():
        return (Piece(chunk, folded, stop=True),)
    if any(char.isdigit() for char in chunk):
        if _YEAR_TAIL.match(chunk):
            head, _, year = chunk.partition("-")
            return word_piece(head, code), Piece(year, year, digits=year.rstrip("s"))
        return (Piece(chunk, folded, key=f"id:{folded}", identifier=True),)
    if "_" in chunk or (_DOMAIN.match(chunk)):
        return (Piece(chunk, folded, key=f"id:{folded}", identifier=True),)
    parts = [part for part in _SEPARATORS.split(chunk) if part]
    if len(parts) > 1 and all(len(part) == 1 for part in parts):
        parts = ["".join(parts)]
    return tuple(word_piece(part.replace("'", "").replace("’", "") or part, code) for part in parts)


@lru_cache(maxsize=16_384)
def mixed_pieces(chunk: str, code: str) -> tuple[Piece, ...]:
    """A chunk that starts with digits and goes on in letters: "5th", "5km", "1990s", or an identifier ("7zip")."""
    data = load_language(code)
    match = _MIXED.match(chunk)
    if match:
        digits, suffix = match.group(1), fold(match.group(2))
        number = Piece(digits, digits, digits=digits, ordinal=suffix in ("st", "nd", "rd", "th"))
        if suffix in _NUMBER_SUFFIXES:
            return (number,)
        if suffix in data.units or suffix in data.scales or suffix in ("am", "pm"):
            return number, word_piece(match.group(2), code)
        if len(suffix) > 3 and suffix.islower():
            return number, word_piece(match.group(2), code)
    return (Piece(chunk, fold(chunk), key=f"id:{fold(chunk)}", identifier=True),)


@lru_cache(maxsize=4)
def _han_pattern(code: str) -> re.Pattern[str]:
    data = load_language(code)
    words = {"".join(phrase) for phrase in data.neutral_phrases} | set(data.negations) | set(data.units)
    words |= {"".join(words) for phrases in data.strict.values() for words, _category in phrases}
    words |= (
        data.framing | {word for word in data.stop_words if len(word) > 1} | set(data.weekdays) | {"百分之", "十分"}
    )
    longest_first = "|".join(sorted(words - {"一个"}, key=lambda word: (-len(word), word)))
    numerals = "".join(HAN_DIGITS) + "".join(HAN_SCALES)
    return re.compile(f"({longest_first})|([{numerals}]+)|(.)")


def _is_simple_han(match: re.Match[str], data: LanguageData) -> bool:
    word = match.group()
    marked = word in data.units or word in data.scales or word in data.polar or word in data.weekdays
    return match.group(2) is None and not marked and not _is_special(word, data)


@lru_cache(maxsize=16_384)
def han_pieces(run: str, code: str) -> tuple[Piece, ...]:
    """A run of Chinese: words with a meaning of their own to the gate, numerals, and the rest by character."""
    data = load_language("zh")
    pieces = []
    for match in _han_pattern("zh").finditer(run):
        word = match.group()
        pieces.append(
            Piece(
                surface=word,
                folded=word,
                key=word,
                stop=word in data.stop_words or word in data.framing,
                negation=word in data.negations,
                digits="" if match.group(2) is None else word,
                scale=data.scales.get(word, 0),
                unit=data.units.get(word, ""),
                han=True,
                special=_is_special(word, data),
                simple=_is_simple_han(match, data),
            )
        )
    return tuple(pieces)
