"""Wait for a state under a deadline, never for luck."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Value = TypeVar("Value")


async def eventually(
    probe: Callable[[], Awaitable[Value]], *, until: Callable[[Value], bool] = bool, within: float = 30.0
) -> Value:
    """The first probed value that satisfies `until`. Fails with the last value seen after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        value = await probe()
        if until(value):
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not reached within {within:.0f} s; last seen: {value!r}")
        await asyncio.sleep(0.05)
