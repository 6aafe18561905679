"""The turns that this process runs now. Each is a task of its own, so that a client that leaves breaks nothing."""

import asyncio
import logging
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any
from uuid import UUID

logger = logging.getLogger(__name__)


class RunningTurns:
    def __init__(self) -> None:
        self._tasks: dict[UUID, asyncio.Task[None]] = {}

    def launch(self, message_id: UUID, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=f"turn-{message_id}")
        self._tasks[message_id] = task
        task.add_done_callback(lambda _task: self._tasks.pop(message_id, None))

    @property
    def ids(self) -> tuple[UUID, ...]:
        return tuple(self._tasks)

    def stop(self, message_id: UUID) -> bool:
        """Ask the turn to end as interrupted. False if it does not run in this process."""
        task = self._tasks.get(message_id)
        return task is not None and task.cancel()

    def stop_all(self) -> None:
        """Ask every turn to end as interrupted."""
        for task in self._tasks.values():
            task.cancel()

    async def close(self, deadline: timedelta) -> None:
        """End every turn and wait until each is stored."""
        tasks = list(self._tasks.values())
        self.stop_all()
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=deadline.total_seconds())
        if late:
            logger.error("turns_not_stored_at_shutdown", extra={"count": len(late)})
