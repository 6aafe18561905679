"""Ctrl-C, TERM and a closed terminal."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _numbers() -> tuple[signal.Signals, ...]:
    # nohup has the closed terminal ignored, and means it.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return signal.SIGINT, signal.SIGTERM
    return signal.SIGINT, signal.SIGTERM, signal.SIGHUP


@contextmanager
def on_stop_signal(first: Callable[[], None], again: Callable[[], None]) -> Iterator[None]:
    """Call `first` at the first of these signals and `again` at each later one."""
    loop = asyncio.get_running_loop()
    is_first = True

    def handle() -> None:
        nonlocal is_first
        is_first, was_first = False, is_first
        (first if was_first else again)()

    numbers = _numbers()
    for number in numbers:
        loop.add_signal_handler(number, handle)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
