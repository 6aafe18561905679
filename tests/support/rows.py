"""Looking at the database as an operator would."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from tests.support.waiting import eventually


class Rows:
    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    @classmethod
    @asynccontextmanager
    async def of(cls, database_url: str) -> AsyncIterator["Rows"]:
        connection = await asyncpg.connect(database_url)
        try:
            yield cls(connection)
        finally:
            await connection.close()

    async def all(self, query: str, *values: object) -> list[dict[str, Any]]:
        return [dict(row) for row in await self._connection.fetch(query, *values)]

    async def one(self, query: str, *values: object) -> Any:
        """The first value of the first row."""
        return await self._connection.fetchval(query, *values)

    async def count(self, table: str) -> int:
        found: int = await self.one(f"SELECT count(*) FROM {table}")
        return found

    async def run(self, statement: str, *values: object) -> None:
        await self._connection.execute(statement, *values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Holds its locks until it ends."""
        async with self._connection.transaction():
            yield

    async def wait_for_count(self, table: str, expected: int, *, within: float = 30.0) -> None:
        await eventually(lambda: self.count(table), until=lambda count: count == expected, within=within)

    async def wait_for_empty_outbox(self, *, within: float = 60.0) -> None:
        await self.wait_for_count("mesh.outbox", 0, within=within)
