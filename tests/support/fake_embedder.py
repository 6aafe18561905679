"""A deterministic embedder of words: texts that share words are near, in the range of cosines that the real one has."""

import math
from collections.abc import Sequence
from hashlib import blake2b

from services.knowledge_store.domain.embedder import EMBEDDING_DIMENSIONS
from services.knowledge_store.domain.language import content_words, detect_language
from services.knowledge_store.domain.records import Vector

# The real model never goes far below 0.7: everything shares this part.
_SHARED_PART = 0.7


class FakeEmbedder:
    """`embedded` keeps every passage it was asked for, so that a test can say that nothing was embedded again."""

    model_id = "fake/words"

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed_query(self, text: str) -> Vector:
        return _embed(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded += texts
        return [_embed(text) for text in texts]


def _embed(text: str) -> Vector:
    counts = [0.0] * (EMBEDDING_DIMENSIONS - 1)
    for word in content_words(text, detect_language(text)):
        # Three places a word: two words that share one of them are still far apart.
        digest = blake2b(word.encode(), digest_size=6).digest()
        for place in (digest[:2], digest[2:4], digest[4:]):
            counts[int.from_bytes(place) % len(counts)] += 1.0
    length = math.sqrt(sum(count * count for count in counts))
    if length == 0:
        return (1.0, *counts)
    scale = math.sqrt(1 - _SHARED_PART) / length
    return (math.sqrt(_SHARED_PART), *(count * scale for count in counts))
