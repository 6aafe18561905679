"""Several pieces of work at once."""

import asyncio
from collections.abc import Coroutine


async def run_together(*work: Coroutine[None, None, None]) -> None:
    """Until all are done. The first fault cancels the others and is raised itself, not as a group."""
    try:
        async with asyncio.TaskGroup() as group:
            for piece in work:
                group.create_task(piece)
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None
