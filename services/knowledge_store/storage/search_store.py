"""Both legs of the search, in the snapshot of the caller's transaction."""

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from services.knowledge_store.domain.candidates import Candidate, Question
from services.knowledge_store.domain.language import LANGUAGES, TEXT_SEARCH_CONFIGURATION
from services.knowledge_store.domain.lexemes import QuestionLexeme, coverage
from services.knowledge_store.storage.search_sql import CANDIDATES, QUESTION_LEXEMES
from services.knowledge_store.storage.tables import chunk, document
from shared.knowledge_contract import Hit, Withheld

DEPTH = 50


class SearchStore:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def load_lexemes(self, question: Question) -> list[QuestionLexeme]:
        rows = await self._connection.execute(
            QUESTION_LEXEMES,
            {
                "languages": list(LANGUAGES),
                "configurations": [TEXT_SEARCH_CONFIGURATION[language] for language in LANGUAGES],
                "index_text": " ".join(question.words),
            },
        )
        return [QuestionLexeme(*row) for row in rows]

    async def find_candidates(
        self, question: Question, lexemes: Sequence[QuestionLexeme], principals: Sequence[str], *, readable: bool
    ) -> list[Candidate]:
        """Up to 50 chunks of each leg: those the principals may read, or those they may not but may be hinted at."""
        rows = await self._connection.execute(
            CANDIDATES,
            {
                "readable": readable,
                "principals": list(principals),
                "languages": [lexeme.language for lexeme in lexemes],
                "lexemes": [lexeme.lexeme for lexeme in lexemes],
                "weights": [lexeme.weight for lexeme in lexemes],
                "average_lengths": [lexeme.average_length for lexeme in lexemes],
                "any_lexeme": _any_of({lexeme.lexeme for lexeme in lexemes}),
                "embedding": str(list(question.embedding)),
                "depth": DEPTH,
            },
        )
        return [
            Candidate(
                record_id=row.record_id,
                chunk_id=row.chunk_id,
                language=row.language,
                lexical_rank=row.lexical_rank,
                semantic_rank=row.semantic_rank,
                cosine=row.cosine,
                coverage=coverage(lexemes, row.language, row.matched),
            )
            for row in rows
        ]

    async def load_hits(self, chunk_ids: Sequence[str]) -> list[Hit]:
        """The hits in the order of `chunk_ids`, ranked from 1."""
        rows = await self._connection.execute(
            select(
                document.c.record_id,
                chunk.c.chunk_id,
                document.c.title,
                chunk.c.text,
                document.c.url,
                document.c.source_system,
                document.c.updated_at,
            )
            .join_from(chunk, document)
            .where(chunk.c.chunk_id.in_(chunk_ids))
        )
        by_id = {row.chunk_id: row for row in rows}
        return [Hit(**by_id[chunk_id]._mapping, rank=n) for n, chunk_id in enumerate(chunk_ids, start=1)]

    async def load_withheld(self, record_ids: Collection[str]) -> list[Withheld]:
        rows = await self._connection.execute(
            select(document.c.source_system, document.c.author_principal_id, document.c.contact)
            .where(document.c.record_id.in_(record_ids))
            .distinct()
        )
        found = [Withheld(**row._mapping) for row in rows]
        return sorted(found, key=lambda w: (w.source_system, w.author_principal_id or "", w.contact or ""))


def _any_of(lexemes: Collection[str]) -> str:
    quoted = (lexeme.replace("\\", "\\\\").replace("'", "''") for lexeme in sorted(lexemes))
    return " | ".join(f"'{lexeme}'" for lexeme in quoted)
