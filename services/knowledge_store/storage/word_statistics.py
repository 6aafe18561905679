"""How many chunks of a language hold a lexeme: kept with the chunks, since counting at search time is slow."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_COUNT_CHUNKS = text("""
    INSERT INTO knowledge.language_statistics AS s (language, chunks, words)
    SELECT language, :sign * count(*), :sign * sum(length) FROM knowledge.chunk
    WHERE document_id = ANY(:document_ids) GROUP BY language
    ON CONFLICT (language) DO UPDATE SET chunks = s.chunks + excluded.chunks, words = s.words + excluded.words
""")

_COUNT_LEXEMES = text("""
    INSERT INTO knowledge.lexeme_frequency AS f (language, lexeme, chunks)
    SELECT c.language, l.lexeme, :sign * count(*)
    FROM knowledge.chunk c CROSS JOIN LATERAL unnest(c.search_vector) AS l
    WHERE c.document_id = ANY(:document_ids) GROUP BY c.language, l.lexeme
    ON CONFLICT (language, lexeme) DO UPDATE SET chunks = f.chunks + excluded.chunks
""")


async def add_to_statistics(connection: AsyncConnection, document_ids: Sequence[int]) -> None:
    await _count(connection, document_ids, sign=1)


async def take_from_statistics(connection: AsyncConnection, document_ids: Sequence[int]) -> None:
    """To be called before the chunks of these documents are deleted."""
    await _count(connection, document_ids, sign=-1)


async def forget_unused_lexemes(connection: AsyncConnection) -> None:
    """A housekeeping scan; a lexeme of no chunk does no harm until then."""
    await connection.execute(text("DELETE FROM knowledge.lexeme_frequency WHERE chunks <= 0"))


async def _count(connection: AsyncConnection, document_ids: Sequence[int], *, sign: int) -> None:
    for statement in (_COUNT_CHUNKS, _COUNT_LEXEMES):
        await connection.execute(statement, {"document_ids": list(document_ids), "sign": sign})
