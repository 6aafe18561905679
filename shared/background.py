"""Work that goes on beside a service for as long as it serves."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None], *, name: str | None = None) -> AsyncIterator[None]:
    """The work runs inside and is cancelled, and awaited, on the way out."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
