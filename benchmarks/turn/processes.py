"""Children of the benchmark, each on a core of its own, and what they cost."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

PROJECT = Path(__file__).parents[2]
_READY_SECONDS = 300.0
_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Child:
    url: str
    log: Path
    process: subprocess.Popen[bytes]

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def unique_kib(self) -> float:
        """Memory that only this process holds, in KiB."""
        return float(psutil.Process(self.process.pid).memory_full_info().uss) / 1024

    async def ready(self) -> None:
        """Returns once it answers."""
        deadline = time.monotonic() + _READY_SECONDS
        async with httpx.AsyncClient() as client:
            while time.monotonic() < deadline and self.process.poll() is None:
                try:
                    if (await client.get(f"{self.url}/livez")).is_success:
                        return
                except httpx.TransportError:
                    await asyncio.sleep(0.1)
        raise SystemExit(f"{self.process.args!r} did not start:\n{_tail(self.log)}")


def cpu_seconds(pid: int) -> float:
    """Time on a core of all its threads, to the microsecond: the tick that other counters have is 10 ms."""
    tasks = Path(f"/proc/{pid}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / _NANOSECONDS


@contextmanager
def child(
    *command: str, url: str, core: int, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Child]:
    """`python -m …` on that core; wait until it is `ready`. It is ended at the end."""
    process = _start(command, core, log, environment or {})
    try:
        yield Child(url, log, process)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _start(command: Sequence[str], core: int, log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=PROJECT,
            env={**os.environ, **environment},
            stdout=output,
            stderr=output,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]
