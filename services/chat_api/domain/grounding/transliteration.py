"""Names across scripts, roughly: the consonants of a word after transliteration to Latin."""

import re
from functools import lru_cache

_CYRILLIC = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщыэюя",
        [*"abvgde", "zh", *"ziyklmnoprstufh", "ts", "ch", "sh", "sch", "y", "e", "yu", "ya"],
        strict=True,
    )
)
_SAME_SOUND = (("sch", "s"), ("sh", "s"), ("ch", "k"), ("ph", "f"), ("th", "t"), ("ck", "k"), ("zh", "s"), ("ts", "s"))
_ONE_LETTER = str.maketrans({"c": "k", "q": "k", "w": "v", "z": "s", "x": "k", "j": "i", "ß": "s", "g": "h"})
_VOWELS = re.compile(r"[aeiouyäöü’'ьъ]")
_DOUBLED = re.compile(r"(.)\1+")


@lru_cache(maxsize=16_384)
def sound_key(word: str) -> str:
    """Equal for most spellings of one name ("Schmidt" and "Шмидт"), not for translated ones ("Warsaw", "Варшава")."""
    text = "".join(_CYRILLIC.get(char, char) for char in word.casefold().replace("ё", "е"))
    for sound, letter in _SAME_SOUND:
        text = text.replace(sound, letter)
    skeleton = text[:1].translate(_ONE_LETTER) + _VOWELS.sub("", text[1:].translate(_ONE_LETTER))
    return f"~{_DOUBLED.sub(lambda match: match.group(1), skeleton)}"
