"""One ingest at a time, over all processes: an advisory lock that ends with its connection, so a kill frees it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.domain.errors import IngestAlreadyRunningError

INGEST_LOCK = 7_305_110_002


@asynccontextmanager
async def hold_ingest_lock(engine: AsyncEngine) -> AsyncIterator[None]:
    """Raises `IngestAlreadyRunningError` at once if another ingest holds it."""
    async with engine.connect() as plain:
        connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
        if not await connection.scalar(select(func.pg_try_advisory_lock(INGEST_LOCK))):
            raise IngestAlreadyRunningError
        try:
            yield
        finally:
            await connection.execute(select(func.pg_advisory_unlock(INGEST_LOCK)))
