"""Numbers as canonical keys, so that "1,000", "1 000", "1.000" and "a thousand" are one claim."""

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from services.chat_api.domain.grounding.language_data.loader import LanguageData

HAN_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_SPACES = str.maketrans("", "", " \u00a0\u202f\u2009'’")


def number_key(value: Decimal | int) -> str:
    text = format(Decimal(value), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"#{text}"


@lru_cache(maxsize=16_384)
def readings(raw: str, decimal: str) -> tuple[Decimal, ...]:
    """Every value a written number may have; the likelier first.

    A lone group of three digits ("1.234") is a thousand in one country and a fraction in the other. As a fraction it
    counts only where the language writes fractions so, and never when it is "000": nobody writes 5 as "5.000".
    """
    text = raw.translate(_SPACES)
    separators = [char for char in text if char in ".,"]
    if not separators:
        return (Decimal(text),)
    if len(set(separators)) == 2:
        point = separators[-1]
        other = "," if point == "." else "."
        return (Decimal(text.replace(other, "").replace(point, ".")),)
    separator = separators[0]
    whole, _, rest = text.partition(separator)
    if len(separators) > 1:
        return (Decimal(text.replace(separator, "")),)
    fraction = Decimal(f"{whole or '0'}.{rest}")
    if len(rest) != 3 or not 1 <= len(whole) <= 3 or whole.startswith("0"):
        return (fraction,)
    thousand = Decimal(whole + rest)
    if separator != decimal or rest == "000":
        return (thousand,)
    return (fraction, thousand)


@lru_cache(maxsize=4_096)
def han_number(text: str) -> int | None:
    """The value of a run of Chinese numerals, digit by digit ("一九九八") or with scales ("三百二十")."""
    if not any(char in HAN_SCALES for char in text):
        return int("".join(str(HAN_DIGITS[char]) for char in text))
    total = section = digit = 0
    for char in text:
        if char in HAN_DIGITS:
            digit = HAN_DIGITS[char]
            continue
        scale = HAN_SCALES[char]
        if scale >= 10_000:
            total = (total + section + digit) * scale if total + section + digit else scale
            section = digit = 0
        else:
            section += (digit or 1) * scale
            digit = 0
    return total + section + digit


@lru_cache(maxsize=8_192)
def compound_number(word: str, language: str, pieces: tuple[tuple[str, int], ...]) -> int | None:
    """A number written as one word ("fünfundzwanzig"), or None. `pieces` come longest first."""
    values: list[int] = []
    rest = word
    while rest:
        if values and rest.startswith("und"):
            rest = rest[3:]
        for piece, value in pieces:
            if rest.startswith(piece):
                values.append(value)
                rest = rest[len(piece) :]
                break
        else:
            return None
    return sum_words(values) if len(values) > 1 else None


def sum_words(values: Iterable[int]) -> int:
    """Adds up number words read in order: three, hundred, twenty, four is 324."""
    total = current = 0
    for value in values:
        if value >= 1_000:
            total += (current or 1) * value
            current = 0
        elif value == 100 and current < 100:
            current = (current or 1) * 100
        else:
            current += value
    return total + current


def may_follow(previous: int, value: int) -> bool:
    """Whether a number word goes on the number before it ("twenty" "four") or starts another."""
    if value >= 100:
        return previous < value
    if previous >= 100:
        return True
    return previous >= 20 and previous % 10 == 0 and 0 < value < 10


def word_number_pieces(data: LanguageData) -> tuple[tuple[str, int], ...]:
    if data.code != "de":
        return ()
    table = {**data.numbers, **{word: scale for word, scale in data.scales.items() if scale <= 1_000}}
    return tuple(sorted(table.items(), key=lambda piece: -len(piece[0])))
