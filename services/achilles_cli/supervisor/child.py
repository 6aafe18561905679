"""What the supervisor looks after."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from shared.embedded.processes import ManagedProcess, Probe, ProcessSpec


class Child(Protocol):
    """An embedded server or a service of ours."""

    @property
    def name(self) -> str: ...

    async def start(self) -> None:
        """Start, and wait until ready. Raises EmbeddedError with nothing left running."""

    async def wait(self) -> int:
        """Until it ends; its exit code."""
        ...

    async def stop(self, grace: timedelta) -> None:
        """Ask it to end, and after `grace` end it. Harmless when it does not run."""

    def kill_now(self) -> None:
        """kill -9 without waiting. Harmless when it does not run."""

    def log_tail(self, lines: int) -> str: ...


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A process and how to tell that it is ready."""

    process: ProcessSpec
    probe: Probe
    ready_within: timedelta = timedelta(seconds=60)


class ServiceChild:
    """A service as a child process."""

    def __init__(self, spec: ChildSpec) -> None:
        self._spec = spec
        self._process = ManagedProcess(spec.process)

    @property
    def name(self) -> str:
        return self._spec.process.name

    async def start(self) -> None:
        try:
            self._process.start()
            await self._process.wait_ready(self._spec.probe, self._spec.ready_within)
        except BaseException:
            await self._process.kill()
            raise

    async def wait(self) -> int:
        return await self._process.wait()

    async def stop(self, grace: timedelta) -> None:
        await self._process.stop(grace)

    def kill_now(self) -> None:
        self._process.kill_now()

    def log_tail(self, lines: int) -> str:
        return self._process.log_tail(lines)
