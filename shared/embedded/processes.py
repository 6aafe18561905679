"""A child process with its log, its readiness and an end that leaves nothing behind."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from time import monotonic

import psutil

from shared.embedded.child_log import open_log, read_tail
from shared.embedded.death_signal import death_signal_setter
from shared.embedded.errors import ProbeFailedError, ProcessFailedError
from shared.embedded.leftovers import end_leftover, note_pid
from shared.embedded.process_tree import signal_all, tree_of, wait_gone
from shared.embedded.unprivileged import RunAs

Probe = Callable[[], Awaitable[None]]
"""Returns when the server is ready; raises ProbeFailedError with the reason while it is not."""

_POLL_SECONDS = 0.04
_LONGEST_POLL_SECONDS = 0.2
_PROBE_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """How a child is started. `environment` is all it gets: nothing is inherited."""

    name: str
    command: tuple[str, ...]
    log_file: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    run_as: RunAs | None = None
    pid_file: Path | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    """Sent by the kernel when the supervisor itself dies."""


class ManagedProcess:
    """One run after the other of the same child. Not bound to an event loop."""

    def __init__(self, spec: ProcessSpec) -> None:
        self.spec = spec
        self._process: subprocess.Popen[bytes] | None = None
        self._is_cleared = True

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """`None` while it runs or was never started; negative when a signal ended it."""
        return self._process.poll() if self._process else None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the child in a session of its own. Raises ProcessFailedError when the program cannot be executed."""
        if self.is_running:
            raise ProcessFailedError(f"{self.spec.name} is already running", "")
        if self.spec.pid_file is not None:
            end_leftover(self.spec.pid_file)
        with open_log(self.spec.log_file) as log:
            self._process = self._spawn(log.fileno())
            self._is_cleared = False
        if self.spec.pid_file is not None:
            note_pid(self.spec.pid_file, self._process.pid)

    async def wait(self) -> int:
        """Until the child ends; its exit code."""
        pause = _POLL_SECONDS / 4
        while (code := self.exit_code) is None:
            if self._process is None:
                raise ProcessFailedError(f"{self.spec.name} was never started", "")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_POLL_SECONDS)
        return code

    async def wait_ready(self, probe: Probe, deadline: timedelta) -> None:
        """Until `probe` succeeds. Raises ProcessFailedError when the child ends before, or at the deadline."""
        end = monotonic() + deadline.total_seconds()
        while True:
            reason = await _ask(probe, max(0.1, min(_PROBE_TIMEOUT_SECONDS, end - monotonic())))
            if not self.is_running:
                raise self._failure(f"ended with {describe_exit(self.exit_code)} before it was ready")
            if reason is None:
                return
            if monotonic() >= end:
                raise self._failure(f"was not ready within {deadline.total_seconds():.0f} s: {reason}")
            await asyncio.sleep(_POLL_SECONDS)

    async def stop(self, grace: timedelta = timedelta(seconds=10)) -> None:
        """Ask it to end, and after `grace` end it with all its descendants."""
        if self._process is None:
            return
        family = self._family()
        if self.is_running:
            self._process.send_signal(self.spec.stop_signal)
            signal_all(family, signal.SIGCONT)
            try:
                async with asyncio.timeout(grace.total_seconds()):
                    await self.wait()
            except TimeoutError:
                family = self._family()
        await self._end(family)

    async def kill(self) -> None:
        """kill -9 for the child and all its descendants."""
        if self._process is not None:
            await self._end(self._family())

    def kill_now(self) -> None:
        """The same without waiting, for a supervisor in a hurry."""
        if self._process is not None:
            signal_all(self._family(), signal.SIGKILL)
            self._kill_group()

    def freeze(self) -> None:
        """Stop all its processes in their tracks; its connections stay open and silent."""
        if self._process is not None:
            signal_all(self._family(), signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process is not None:
            signal_all(self._family()[::-1], signal.SIGCONT)

    def log_tail(self, lines: int = 20) -> str:
        return read_tail(self.spec.log_file, lines)

    def _spawn(self, output: int) -> subprocess.Popen[bytes]:
        spec = self.spec
        try:
            return subprocess.Popen(  # noqa: S603
                spec.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(spec.environment),
                cwd=spec.folder or Path("/"),
                start_new_session=True,
                umask=0o077,
                user=spec.run_as.uid if spec.run_as else None,
                group=spec.run_as.gid if spec.run_as else None,
                extra_groups=[] if spec.run_as else None,
                preexec_fn=death_signal_setter(spec.death_signal),
            )
        except (OSError, subprocess.SubprocessError) as fault:
            raise ProcessFailedError(f"{spec.name} could not be started: {fault}", "") from fault

    async def _end(self, family: list[psutil.Process]) -> None:
        signal_all(family, signal.SIGKILL)
        self._kill_group()
        await self.wait()
        self._is_cleared = True
        await wait_gone(family)
        if self.spec.pid_file is not None:
            self.spec.pid_file.unlink(missing_ok=True)

    def _family(self) -> list[psutil.Process]:
        """Empty once the child was reaped: its id may belong to a stranger by then."""
        return tree_of(self._process.pid) if self._process and self.is_running else []

    def _kill_group(self) -> None:
        """Descendants whose parent ended first are no longer in the tree, but still in the group."""
        if self._process is not None and not self._is_cleared:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return

    def _failure(self, what: str) -> ProcessFailedError:
        return ProcessFailedError(f"{self.spec.name} {what}; its log is {self.spec.log_file}", self.log_tail())


def describe_exit(code: int | None) -> str:
    """`exit code 3` or `signal SIGKILL`."""
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


async def _ask(probe: Probe, seconds: float) -> str | None:
    try:
        # Not wait_for: when the probe ends at the same moment, Python 3.11 lets a cancellation go unheard.
        async with asyncio.timeout(seconds):
            await probe()
    except TimeoutError:
        return "no answer"
    except ProbeFailedError as reason:
        return str(reason)
    return None
