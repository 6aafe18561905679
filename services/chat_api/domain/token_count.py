"""How many tokens a text takes, and an upper estimate for models whose tokeniser is not known here."""

import re
from collections.abc import Callable
from functools import lru_cache

# Exact for known tokenisers, never too low for others.
TokenCounter = Callable[[str], int]

_WORD = re.compile(r"[A-Za-z0-9]+")
# As prose and camelCase have them: small letters, with at most one capital before them.
_WORD_PART = re.compile(r"[A-Za-z][a-z]*|[0-9]")
_UNSPEAKABLE = re.compile(r"[^aeiouy]{5}|[a-z]{24}")
_SPACES = re.compile(r"[^\S\n]{2,}")
_BREAK = re.compile(r"[\n\r\t\v\f]")
# Letters of two bytes that tokenisers know as one: those of Russian, German and their neighbours, rare capitals apart.
_PAIRED_LETTERS = "а-яёА-ЕЗИК-УФЦЧЭЯÄÖÜÉß-öø-ý"
_PAIRED = re.compile(f"[{_PAIRED_LETTERS}]")
# Those that they know with the space before it.
_SPACED_LETTERS = "а-ик-шэяА-ЕЗИКМ-УФЭÄÖÜÉàáâäåæçèéêíîóöøúü"
_LONE_SPACE = re.compile(rf"[^\S\n](?![!-/:-~\s{_SPACED_LETTERS}])")
_LETTERS_PER_TOKEN = 2.5
_SPACES_PER_TOKEN = 16
_KEY_LENGTH = 8
_LONGEST_REMEMBERED = 20_000


def estimate_tokens(text: str) -> int:
    """Letters of ASCII words at 2.5 a token, every other visible ASCII character as one, others by their bytes."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _estimate(text)


def _estimate(text: str) -> int:
    words = _WORD.findall(text)
    signs = _visible_ascii(text) - sum(map(len, words))
    return sum(map(_word_tokens, words)) + signs + _space_tokens(text) + _wide_tokens(text)


# Passages come again, from turn to turn.
_remembered = lru_cache(maxsize=4_096)(_estimate)


@lru_cache(maxsize=16_384)
def _word_tokens(word: str) -> int:
    """Keys, hashes and other runs that nobody speaks take a token a character."""
    if len(word) >= _KEY_LENGTH and (_mixes_digits(word) or 3 * sum(map(str.isupper, word)) > len(word)):
        return len(word)
    return sum(_part_tokens(part) for part in _WORD_PART.findall(word))


def _mixes_digits(word: str) -> bool:
    return not word.isalpha() and not word.isdigit()


def _part_tokens(part: str) -> int:
    if len(part) > 2 and _UNSPEAKABLE.search(part.lower()):
        return len(part)
    return -int(-len(part) // _LETTERS_PER_TOKEN)


def _visible_ascii(text: str) -> int:
    return len(text.encode("ascii", "ignore").translate(None, b" \t\n\r\v\f"))


def _space_tokens(text: str) -> int:
    """A single space belongs to the word after it, if that is one that is known; a run of them is a token or more."""
    runs = sum(1 + len(run) // _SPACES_PER_TOKEN for run in _SPACES.findall(text))
    return runs + len(_LONE_SPACE.findall(text)) + len(_BREAK.findall(text))


def _wide_tokens(text: str) -> int:
    """Byte-level tokenisers never need more tokens than bytes; the letters of Russian and German pair up in words."""
    if text.isascii():
        return 0
    wide_bytes = len(text.encode("utf-8", "surrogatepass")) - len(text.encode("ascii", "ignore"))
    return wide_bytes - len(_PAIRED.findall(text))
