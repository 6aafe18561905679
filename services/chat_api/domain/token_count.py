"""An upper estimate of tokens for models whose tokeniser is not known here. It errs high, never low."""

import math
import re

_ASCII_WORD = re.compile(r"[A-Za-z]+")
_LETTERS_PER_TOKEN = 2.5


def estimate_tokens(text: str) -> int:
    """Letters of ASCII words at 2.5 a token, every other visible ASCII character as one, others by their bytes."""
    words = [len(word) for word in _ASCII_WORD.findall(text)]
    letters = sum(words)
    visible_ascii = sum(1 for char in text if char.isascii() and not char.isspace())
    line_breaks = text.count("\n")
    wide = sum(_wide_tokens(char) for char in text if not char.isascii())
    latin = sum(math.ceil(length / _LETTERS_PER_TOKEN) for length in words)
    return latin + (visible_ascii - letters) + line_breaks + math.ceil(wide)


def _wide_tokens(char: str) -> float:
    encoded = len(char.encode("utf-8", "surrogatepass"))
    # Byte-level tokenisers never need more tokens than bytes; two-byte letters pair up within words.
    return 1.0 if encoded == 2 else float(encoded)
