"""Whether a full stop ends its sentence."""

import re
from functools import lru_cache

import sentencex

from services.chat_api.domain.grounding.language_data.loader import LanguageData, fold

CLOSERS = "\"'”’»“)）]」』*_`"
HAN_STOPS = "。！？"
_LAST_WORD = re.compile(r"(?:[^\W\d_]\.\s?)*[^\W_]+\Z")
_ORDINAL = re.compile(r"(?<![\w.,])\d{1,2}\Z")
_MEASURED = (*"0123456789", "°")
LINE_NUMBER = re.compile(r"\s*(?:[-*+•]\s+)?\d{1,3}\Z")


def ends_sentence(before: str, stop: str, following: str, data: LanguageData) -> bool:
    """`before` is the sentence up to its stop, `following` the next word (or its first character)."""
    first = following[:1]
    if stop[0] in HAN_STOPS:
        return before.count("“") <= before.count("”") + stop.count("”") and first not in ("，", "、", "的")
    if first.islower():
        return False
    if stop[0] != ".":
        return True
    if stop.startswith(".."):
        return first.isupper()
    if LINE_NUMBER.match(before):
        return False
    return _dot_ends(before[-40:], following, data)


def _dot_ends(before: str, following: str, data: LanguageData) -> bool:
    first = following[:1]
    if data.code == "de" and _ORDINAL.search(before):
        return fold(following) in data.stop_words
    match = _LAST_WORD.search(before)
    if match is None:
        return True
    word = fold(match.group())
    last = word.rsplit(".", 1)[-1].strip()
    if len(last) == 1 and before[-1].isupper():
        return not _is_initial(before)
    if word in data.closing_abbreviations or last in data.closing_abbreviations:
        return not first.isdigit()
    if word in data.numeric_abbreviations and first.isdigit():
        return False
    if word in data.numeric_abbreviations:
        return True
    if word in data.abbreviations or (len(last) == 1 and last.isalpha() and "." in word):
        return False
    return len(word) > 4 or word[-1].isdigit() or _segmenter_splits(data.code, before[-30:], first)


def _is_initial(before: str) -> bool:
    """As in "Thomas C. Mann"; after a number it is a unit ("20 °C")."""
    return not before[:-1].rstrip().endswith(_MEASURED)


@lru_cache(maxsize=4_096)
def _segmenter_splits(code: str, before: str, first: str) -> bool:
    pieces = list(sentencex.segment(code, f"{before}. {first}x"))
    return len(pieces) > 1 and pieces[-1].strip() == f"{first}x"
