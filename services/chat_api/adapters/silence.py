"""How long a stream may be silent, with one timer for the whole of it."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self


class SilenceLimit:
    """Calls `on_silence` once nothing came for `seconds` although somebody listened.

    A timer for each read, as HTTP clients set it, costs about as much as the read.
    """

    def __init__(self, seconds: float, on_silence: Callable[[], None]) -> None:
        self._seconds = seconds
        self._on_silence = on_silence
        self._loop = asyncio.get_running_loop()
        self._since: float | None = self._loop.time()

    def __enter__(self) -> Self:
        self._timer = self._loop.call_later(self._seconds, self._look)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def pause(self) -> None:
        """Something came, and nobody listens while it is dealt with."""
        self._since = None

    def listen(self) -> None:
        self._since = self._loop.time()

    def _look(self) -> None:
        left = self._seconds if self._since is None else self._since + self._seconds - self._loop.time()
        if left <= 0:
            self._on_silence()
        else:
            self._timer = self._loop.call_later(left, self._look)
