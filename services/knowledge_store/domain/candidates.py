"""What the two legs of the search find."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.knowledge_store.domain.background import Background, nearness
from services.knowledge_store.domain.language import Language, content_words, detect_language
from services.knowledge_store.domain.records import Vector


@dataclass(frozen=True, slots=True)
class Question:
    """A query as both legs need it. `language` is None where the query is too short to tell.

    `background` is its mean cosine to unrelated texts of each language.
    """

    words: tuple[str, ...]
    language: Language | None
    embedding: Vector
    background: Mapping[Language, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk found by at least one leg.

    Ranks count from 1. `cosine` is the similarity of the embeddings; `coverage` (0 to 1) is the share of the
    question's words, weighted by their rarity, that stand in the chunk.
    """

    record_id: str
    chunk_id: str
    language: Language
    lexical_rank: int | None
    semantic_rank: int | None
    cosine: float
    coverage: float


def make_question(query: str, embedding: Vector, background: Background) -> Question:
    language = detect_language(query)
    return Question(
        words=tuple(content_words(query, language)),
        language=None if language == "other" else language,
        embedding=embedding,
        background=nearness(embedding, background),
    )
