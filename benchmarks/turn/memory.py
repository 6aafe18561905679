"""PERF-4: what an open stream holds in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.turn.asking import Asker, questions
from benchmarks.turn.report import Row
from benchmarks.turn.seeding import make_conversations
from benchmarks.turn.stage import Stage

_FEW = 50
_HISTORY = 20
_OPEN_AFTER_SECONDS = 8.0


async def measure_memory(stage: Stage, *, streams: int) -> AsyncIterator[Row]:
    """The slope between few and many open streams of the front: what the first ones load once is no part of it."""
    async with stage.asker() as asker:
        few = await _memory_with(stage, asker, _FEW)
        many = await _memory_with(stage, asker, _FEW + streams)
    yield Row("PERF-4", f"memory of an open stream, {streams} more at once", (many - few) / streams, "KiB", 150)


async def _memory_with(stage: Stage, asker: Asker, streams: int) -> float:
    async with _open_streams(stage, asker, streams):
        await asyncio.sleep(_OPEN_AFTER_SECONDS)
        return stage.front.unique_kib()


@asynccontextmanager
async def _open_streams(stage: Stage, asker: Asker, count: int) -> AsyncIterator[None]:
    """Grounded turns in their answer call, each in a conversation of its own, given up at the end."""
    conversations = await make_conversations(stage.database_url, count, messages=_HISTORY, model="pace-1000")
    asked = questions()
    tasks = [asyncio.create_task(asker.ask(next(asked), one)) for one in conversations]
    try:
        yield
    finally:
        if any(task.done() for task in tasks):
            raise SystemExit("a stream ended before its memory was measured")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
