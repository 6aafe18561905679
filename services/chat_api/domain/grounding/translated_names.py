"""Names that are translated ("Warsaw", "Warschau", "Варшава", "华沙"), told by a table."""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from services.chat_api.domain.grounding.language_data.loader import fold, load_language


@dataclass(frozen=True, slots=True)
class _Table:
    """`words` maps a stem of one language, `han` a Chinese name, to the numbers of its rows."""

    words: dict[tuple[str, str], tuple[int, ...]]
    han: dict[str, set[int]]
    han_pattern: re.Pattern[str]


@lru_cache(maxsize=1)
def _table() -> _Table:
    path = files("services.chat_api.domain.grounding.language_data") / "names.toml"
    words: dict[tuple[str, str], tuple[int, ...]] = {}
    han: dict[str, set[int]] = {}
    for number, row in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["places"]):
        for code, names in row.items():
            for name in names.split():
                if code == "zh":
                    han.setdefault(name, set()).add(number)
                else:
                    key = (code, _stem(name, code))
                    words[key] = (*words.get(key, ()), number)
    longest_first = sorted(han, key=lambda name: (-len(name), name))
    return _Table(words, han, re.compile("|".join(map(re.escape, longest_first))))


@lru_cache(maxsize=16_384)
def rows_of_word(word: str, code: str) -> tuple[int, ...]:
    """The rows of the table that hold this word of that language, in any of its forms."""
    return _table().words.get((code, _stem(word, code)), ())


def rows_in_han(text: str) -> dict[str, set[int]]:
    """Chinese names of the table that stand in the text, with their rows."""
    table = _table()
    return {name: table.han[name] for name in table.han_pattern.findall(text)}


def _stem(word: str, code: str) -> str:
    data = load_language(code)
    return data.stem(fold(word).replace("ß", "ss")) if code in ("en", "de", "ru") else word
