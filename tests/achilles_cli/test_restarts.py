"""A part that crashes again and again is started after longer and longer pauses, and each is told."""

from datetime import timedelta
from io import StringIO
from time import monotonic

import pytest
from rich.console import Console

from services.achilles_cli.supervisor.report import Report
from services.achilles_cli.supervisor.supervisor import Supervisor
from shared.embedded.errors import ProcessFailedError
from tests.support.waiting import eventually

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_PAUSES = (0.01, 0.02, 0.04, 0.08)


class _CrashingChild:
    """Starts, and ends at once with exit code 3. `unstartable` starts fail after the first one."""

    name = "worker"

    def __init__(self, unstartable: int = 0) -> None:
        self.started_at: list[float] = []
        self._unstartable = unstartable

    async def start(self) -> None:
        self.started_at.append(monotonic())
        if 1 < len(self.started_at) <= 1 + self._unstartable:
            raise ProcessFailedError("the port is taken", "")

    async def wait(self) -> int:
        return 3

    async def stop(self, grace: timedelta) -> None:
        return

    def kill_now(self) -> None:
        return

    def log_tail(self, lines: int) -> str:
        return "last words"


class _ToldReport(Report):
    def __init__(self) -> None:
        self.output = StringIO()
        super().__init__(Console(file=self.output, width=200))
        self.pauses: list[float] = []

    def crashed(self, name: str, why: str, pause: float, log_tail: str) -> None:
        self.pauses.append(pause)
        super().crashed(name, why, pause, log_tail)


async def _run_until(child: _CrashingChild, report: _ToldReport, starts: int) -> None:
    async def count() -> int:
        return len(child.started_at)

    async with Supervisor(report, pauses=_PAUSES) as supervisor:
        await supervisor.start(child)
        await eventually(count, until=lambda count: count >= starts)


@pytest.mark.parametrize("unstartable", [0, 4])
async def test_each_pause_is_longer_than_the_last_and_the_longest_stays(unstartable: int) -> None:
    child, report = _CrashingChild(unstartable), _ToldReport()
    await _run_until(child, report, 7)
    assert report.pauses[:6] == [*_PAUSES, _PAUSES[-1], _PAUSES[-1]]
    waited = [later - earlier for earlier, later in zip(child.started_at, child.started_at[1:], strict=False)]
    assert all(seconds >= pause for seconds, pause in zip(waited, report.pauses, strict=False))


async def test_it_is_told_why_it_ended_and_when_it_is_started_again() -> None:
    child, report = _CrashingChild(unstartable=1), _ToldReport()
    await _run_until(child, report, 3)
    told = report.output.getvalue()
    assert "last words" in told
    assert "worker ended with exit code 3; starting it again in" in told
    assert "worker could not be started: the port is taken; starting it again in" in told
    assert "worker is back" in told
