"""The word statistics follow the chunks through every kind of change."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from shared.database.engine import asyncpg_url
from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

DIFFERENCES = text("""
    WITH counted AS (
        SELECT c.language, l.lexeme, count(*) AS chunks
        FROM knowledge.chunk c CROSS JOIN LATERAL unnest(c.search_vector) l GROUP BY 1, 2
    )
    SELECT count(*) FROM counted FULL JOIN knowledge.lexeme_frequency f USING (language, lexeme)
    WHERE counted.chunks IS DISTINCT FROM nullif(f.chunks, 0)
""")


async def test_counts_equal_a_recount(folder: KnowledgeFolder, store: RunningStore, fresh_database_url: str) -> None:
    folder.write("a.md", "# Leave\n\nannual leave days\n\n## Sick\n\nsick leave")
    folder.write("b.md", "# Urlaub\n\nDer Urlaub ist im Jahr zu nehmen und nicht später")
    await store.ingest(folder)
    folder.write("a.md", "# Leave\n\nannual leave weeks")
    folder.write("c.md", "# Parking\n\nparking is for the visitors of the office")
    await store.ingest(folder)
    folder.remove("b.md")
    await store.ingest(folder)
    engine = create_async_engine(asyncpg_url(fresh_database_url))
    async with engine.connect() as connection:
        assert await connection.scalar(DIFFERENCES) == 0
        chunks = await connection.scalar(text("SELECT sum(chunks) FROM knowledge.language_statistics"))
        assert chunks == await connection.scalar(text("SELECT count(*) FROM knowledge.chunk"))
    await engine.dispose()
