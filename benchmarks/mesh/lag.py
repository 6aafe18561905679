"""PERF-8: from the commit of the turn to the commit of each effect, as PostgreSQL noted both.

The front's relay and both workers are the real processes. The transaction that ends a turn (its message and its rows in
the ledger) is written at a pace that makes 200 events a second.
"""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import asyncpg

from benchmarks.mesh.events import events_of_a_turn
from benchmarks.mesh.ledger import Ledger, open_ledger, rows_of
from benchmarks.turn.report import Row, percentile
from benchmarks.turn.seeding import make_conversations
from benchmarks.turn.stage import Stage
from tests.support.waiting import eventually

EVENTS_A_SECOND = 200
_CONVERSATIONS = 50
_EFFECTS = ("signals.accesses", "signals.usage", "traces.retrievals", "traces.runs")
_LAGS = """
    SELECT extract(epoch FROM pg_xact_commit_timestamp(effect.xmin) - pg_xact_commit_timestamp(answer.xmin)) * 1000
    FROM {table} effect JOIN chat.messages answer ON answer.id = effect.message_id WHERE answer.id = ANY($1)
"""


async def measure_lag(stage: Stage, *, events: int) -> AsyncIterator[Row]:
    await _keep_commit_times(stage)
    conversations = await make_conversations(stage.database_url, _CONVERSATIONS, messages=0)
    async with open_ledger(stage.database_url) as ledger:
        await _end_turns(ledger, conversations, events // 4)
        ended, pace = await _end_turns(ledger, conversations, events)
        await eventually(ledger.waiting, until=lambda waiting: waiting == 0, within=60)
    lags = await _read_lags(stage.database_url, ended)
    beside = f"{len(lags)} effects, {pace:.0f} events a second, least {min(lags):.0f}, most {max(lags):.0f} ms"
    yield Row("PERF-8", "commit of the turn to applied effect, p50", percentile(lags, 0.5), "ms", 50, beside)
    yield Row("PERF-8", "commit of the turn to applied effect, p99", percentile(lags, 0.99), "ms", 500)


async def _keep_commit_times(stage: Stage) -> None:
    """PostgreSQL notes when each transaction committed, which takes a restart; all processes connect again."""
    connection = await asyncpg.connect(stage.database_url)
    await connection.execute("ALTER SYSTEM SET track_commit_timestamp = on")
    await connection.close()
    await stage.servers.postgres.stop()
    await stage.servers.postgres.start()


async def _end_turns(ledger: Ledger, conversations: list[UUID], events: int) -> tuple[list[UUID], float]:
    """The messages, and how many events there were in a second."""
    loop = asyncio.get_running_loop()
    ended: list[UUID] = []
    written, begun = 0, loop.time()
    while written < events:
        await asyncio.sleep(max(0.0, begun + written / EVENTS_A_SECOND - loop.time()))
        message, conversation = uuid4(), conversations[len(ended) % len(conversations)]
        rows = rows_of(events_of_a_turn(message, conversation, len(ended)))
        await ledger.end_turn(message, conversation, rows)
        ended.append(message)
        written += len(rows)
    return ended, written / (loop.time() - begun)


async def _read_lags(database_url: str, ended: list[UUID]) -> list[float]:
    """Milliseconds, one for each effect."""
    connection = await asyncpg.connect(database_url)
    try:
        tables = [await connection.fetch(_LAGS.format(table=table), ended) for table in _EFFECTS]
    finally:
        await connection.close()
    return [float(row[0]) for rows in tables for row in rows]
