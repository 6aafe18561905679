"""Rows of the ledger and of the tables that the workers write, as the benchmark puts them there and counts them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from benchmarks.mesh.events import PROMPT_VERSION
from shared.events import Event
from shared.messaging.outbox import OutboxRow, columns_of, make_row

_INSERT = """
    INSERT INTO mesh.outbox (event_id, subject, stream, payload, headers, next_attempt_at)
    SELECT event_id, subject, stream, payload, headers::jsonb, now() + $6
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[])
        AS row (event_id, subject, stream, payload, headers)
"""
_MESSAGE = """
    INSERT INTO chat.messages (id, conversation_id, role, content, outcome)
    VALUES ($1, $2, 'assistant', 'x', 'grounded')
"""
_WRITTEN = (
    "signals.accesses",
    "signals.access_counters",
    "signals.usage",
    "signals.usage_daily",
    "traces.retrievals",
    "traces.runs",
)
_PROMPT = "INSERT INTO traces.prompt_versions (id, name, static_text) VALUES ($1, 'answer', 'x') ON CONFLICT DO NOTHING"


def rows_of(events: Sequence[Event]) -> list[OutboxRow]:
    return [make_row(event, source="benchmark") for event in events]


class Ledger:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def write(self, rows: Sequence[OutboxRow], *, due_in: timedelta = timedelta(days=1)) -> None:
        """In one transaction."""
        await self._connection.execute(_INSERT, *columns_of(rows), due_in)

    async def end_turn(self, message_id: UUID, conversation_id: UUID, rows: Sequence[OutboxRow]) -> None:
        """As a front ends a turn: the message and its events, in one transaction."""
        async with self._connection.transaction():
            await self._connection.execute(_MESSAGE, message_id, conversation_id)
            await self.write(rows, due_in=timedelta(0))

    async def waiting(self) -> int:
        return int(await self._connection.fetchval("SELECT count(*) FROM mesh.outbox"))

    async def clear(self) -> None:
        """Nothing of an earlier round stays, nor a checkpoint or autovacuum that it would cause."""
        await self._connection.execute(f"TRUNCATE mesh.outbox, {', '.join(_WRITTEN)}")
        await self._connection.execute("CHECKPOINT")

    async def count(self, tables: Sequence[str]) -> int:
        return sum([int(await self._connection.fetchval(f"SELECT count(*) FROM {table}")) for table in tables])


@asynccontextmanager
async def open_ledger(database_url: str) -> AsyncIterator[Ledger]:
    connection = await asyncpg.connect(database_url, command_timeout=120)
    try:
        await connection.execute(_PROMPT, PROMPT_VERSION)
        yield Ledger(connection)
    finally:
        await connection.close()
