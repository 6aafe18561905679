"""The seam of the embedding model."""

from collections.abc import Sequence
from typing import Protocol

from services.knowledge_store.domain.records import Vector

EMBEDDING_DIMENSIONS = 384


class Embedder(Protocol):
    """Turns text into vectors of unit length, `EMBEDDING_DIMENSIONS` long. `model_id` changes when vectors would."""

    @property
    def model_id(self) -> str: ...

    async def embed_query(self, text: str) -> Vector: ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]: ...
