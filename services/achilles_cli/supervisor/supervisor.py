"""Start children in order, keep them running, stop them in reverse."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic
from types import TracebackType
from typing import Self

from services.achilles_cli.supervisor.backoff import DEFAULT_PAUSES, Backoff
from services.achilles_cli.supervisor.child import Child
from services.achilles_cli.supervisor.report import Report
from shared.embedded.errors import EmbeddedError
from shared.embedded.processes import describe_exit
from shared.embedded.together import run_together

# Longer than the chat lets open answers run to their end.
STOP_GRACE = timedelta(seconds=20)
_TAIL_LINES = 5


class Supervisor:
    """An async context: whatever was started in it is stopped at its end.

    Enter it in the main thread: children die with the thread that started them.
    """

    def __init__(self, report: Report, pauses: Sequence[float] = DEFAULT_PAUSES, grace: timedelta = STOP_GRACE) -> None:
        self._report = report
        self._pauses = pauses
        self._grace = grace
        self._stages: list[tuple[Child, ...]] = []
        self._watchers: list[asyncio.Task[None]] = []

    async def start(self, *children: Child) -> None:
        """Start these together, after all earlier ones. Raises the first EmbeddedError."""
        self._stages.append(children)
        await run_together(*(self._start_first(child) for child in children))

    async def stop(self) -> None:
        """In reverse order. Nothing is left running."""
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        while self._stages:
            await asyncio.gather(*(child.stop(self._grace) for child in self._stages[-1]))
            self._stages.pop()

    def kill_now(self) -> None:
        """Have a running `stop` end at once."""
        self._grace = timedelta(0)
        for stage in self._stages:
            for child in stage:
                child.kill_now()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _exc: BaseException | None, _tb: TracebackType | None
    ) -> None:
        await self.stop()

    async def _start_first(self, child: Child) -> None:
        with self._report.timed(child.name):
            await child.start()
        self._watchers.append(asyncio.create_task(self._watch(child)))

    async def _watch(self, child: Child) -> None:
        backoff = Backoff(self._pauses)
        while True:
            began = monotonic()
            code = await child.wait()
            await child.stop(timedelta(0))  # what it left in its process group
            await self._start_again(child, f"ended with {describe_exit(code)}", backoff, monotonic() - began)
            self._report.recovered(child.name)

    async def _start_again(self, child: Child, why: str, backoff: Backoff, ran_for: float) -> None:
        while True:
            pause = backoff.next_pause(ran_for)
            self._report.crashed(child.name, why, pause, child.log_tail(_TAIL_LINES))
            await asyncio.sleep(pause)
            try:
                await child.start()
            except EmbeddedError as fault:
                why, ran_for = f"could not be started: {fault}", 0.0
            else:
                return
