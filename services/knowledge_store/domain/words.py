"""Text to index words: one tokenisation for the documents and the questions, whatever the script.

PostgreSQL's own parser depends on the locale of the cluster (under "C" it neither lowers Cyrillic nor splits at a
Chinese full stop), so it is handed words that are already split and lowered, and only stems them.
"""

import re
import unicodedata
from collections.abc import Iterator

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"

_WORD = re.compile(r"[^\W_]+")
_SCRIPT_RUN = re.compile(f"([{CJK}]+)|([^{CJK}]+)")
_MAX_WORD_CHARACTERS = 200


def normalise(text: str) -> str:
    """NFKC, lower case, and the Russian ё as е, which is how most people type it."""
    return unicodedata.normalize("NFKC", text).lower().replace("ё", "е")


def index_words(text: str) -> list[str]:
    """The words of `text` in order; a run of Chinese, Japanese or Korean characters becomes its bigrams."""
    return [word for run in _WORD.findall(normalise(text)) for word in _split_scripts(run)]


def _split_scripts(run: str) -> Iterator[str]:
    for cjk, other in _SCRIPT_RUN.findall(run):
        if other:
            yield other[:_MAX_WORD_CHARACTERS]
        elif len(cjk) == 1:
            yield cjk
        else:
            yield from (cjk[i : i + 2] for i in range(len(cjk) - 1))
