"""How much each word of a question weighs: rare words tell more."""

import math
from collections.abc import Collection
from dataclasses import dataclass

from services.knowledge_store.domain.language import Language


@dataclass(frozen=True, slots=True)
class QuestionLexeme:
    """A stem of the question in one language, and how many of that language's chunks hold it."""

    language: Language
    lexeme: str
    chunks_with_lexeme: int
    chunks: int
    average_length: float

    @property
    def weight(self) -> float:
        """Inverse document frequency, always positive."""
        rest = self.chunks - self.chunks_with_lexeme + 0.5
        return math.log(1.0 + max(rest, 0.5) / (self.chunks_with_lexeme + 0.5))


def coverage(lexemes: Collection[QuestionLexeme], language: Language, matched: Collection[str]) -> float:
    """The share of the question's weight that stands in a chunk of `language`, 0 to 1."""
    own = [lexeme for lexeme in lexemes if lexeme.language == language]
    total = sum(lexeme.weight for lexeme in own)
    return sum(lexeme.weight for lexeme in own if lexeme.lexeme in matched) / total if total else 0.0
