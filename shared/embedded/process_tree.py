"""A process with all its descendants. PostgreSQL gives each backend a session of its own, so a group is not enough."""

import asyncio
import signal
from collections.abc import Iterable
from contextlib import suppress

import psutil

_POLL_SECONDS = 0.02
_GONE_WITHIN_SECONDS = 10.0


def tree_of(pid: int) -> list[psutil.Process]:
    """The process first, then its descendants; empty when it is gone."""
    try:
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def signal_all(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


async def wait_gone(processes: Iterable[psutil.Process]) -> None:
    """Until none of them runs. A zombie that somebody else has to reap counts as gone."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _GONE_WITHIN_SECONDS
    while still_running(processes) and loop.time() < end:  # noqa: ASYNC110 - nothing tells us
        await asyncio.sleep(_POLL_SECONDS)


def still_running(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if _runs(process)]


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
