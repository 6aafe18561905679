"""The migrations make what the code declares, from any revision and by any number of starters at once."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from services.knowledge_store.storage.migrate import (
    SchemaDriftError,
    check_knowledge_schema,
    downgrade_knowledge_schema,
    upgrade_knowledge_schema,
)
from shared.database.engine import asyncpg_url

pytestmark = [pytest.mark.integration, pytest.mark.p1]


async def test_migrations_match_the_declared_tables(fresh_database_url: str) -> None:
    await upgrade_knowledge_schema(fresh_database_url)
    await check_knowledge_schema(fresh_database_url)


async def test_drift_is_noticed(fresh_database_url: str) -> None:
    await upgrade_knowledge_schema(fresh_database_url)
    engine = create_async_engine(asyncpg_url(fresh_database_url))
    async with engine.begin() as connection:
        await connection.execute(text("ALTER TABLE knowledge.chunk DROP COLUMN language"))
    await engine.dispose()
    with pytest.raises(SchemaDriftError):
        await check_knowledge_schema(fresh_database_url)


async def test_staircase_down_and_up_again(fresh_database_url: str) -> None:
    await upgrade_knowledge_schema(fresh_database_url)
    await downgrade_knowledge_schema(fresh_database_url, "base")
    await upgrade_knowledge_schema(fresh_database_url)
    await check_knowledge_schema(fresh_database_url)


async def test_several_starters_migrate_at_once(fresh_database_url: str) -> None:
    await asyncio.gather(*(upgrade_knowledge_schema(fresh_database_url) for _ in range(4)))
    await check_knowledge_schema(fresh_database_url)
