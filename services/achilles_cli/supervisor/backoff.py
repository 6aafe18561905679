"""How long to wait before a crashed child is started again."""

from collections.abc import Sequence

DEFAULT_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
_STABLE_SECONDS = 60.0


class Backoff:
    """Growing pauses in seconds; the last one repeats. A child that ran for a minute starts over."""

    def __init__(self, pauses: Sequence[float] = DEFAULT_PAUSES) -> None:
        self._pauses = tuple(pauses)
        self._crashes = 0

    def next_pause(self, ran_for: float) -> float:
        if ran_for >= _STABLE_SECONDS:
            self._crashes = 0
        pause = self._pauses[min(self._crashes, len(self._pauses) - 1)]
        self._crashes += 1
        return pause
