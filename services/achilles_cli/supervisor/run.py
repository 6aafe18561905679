"""Run children until somebody stops them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from services.achilles_cli.supervisor.report import Report
from services.achilles_cli.supervisor.stop_signals import on_stop_signal
from services.achilles_cli.supervisor.supervisor import Supervisor


async def run_until_stopped(supervisor: Supervisor, report: Report, start: Callable[[], Awaitable[None]]) -> bool:
    """Await `start`, then wait for Ctrl-C or TERM; whatever `supervisor` started is stopped at the end.

    Whether `start` had been completed. Raises what `start` raises.
    """
    is_complete = asyncio.Event()

    async def run() -> None:
        async with supervisor:
            await start()
            is_complete.set()
            await asyncio.Event().wait()

    running = asyncio.create_task(run())

    def stop() -> None:
        report.stopping()
        # Work cut off in the middle leaves futures that nobody will ask: their faults are no news.
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        running.cancel()

    with on_stop_signal(first=stop, again=supervisor.kill_now), suppress(asyncio.CancelledError):
        await running
    return is_complete.is_set()
