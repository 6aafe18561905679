"""Embed the background texts once, at the start (about a second with the embedded model)."""

from services.knowledge_store.domain.background import BACKGROUND_TEXTS, Background, mean_vector
from services.knowledge_store.domain.embedder import Embedder


async def measure_background(embedder: Embedder) -> Background:
    return {language: mean_vector(await embedder.embed_passages(texts)) for language, texts in BACKGROUND_TEXTS.items()}
