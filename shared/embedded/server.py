"""What PostgreSQL, NATS and Valkey have in common when they run as children."""

from abc import ABC, abstractmethod
from datetime import timedelta

from shared.embedded.data_folder import DataFolder
from shared.embedded.errors import PasswordRefusedError
from shared.embedded.processes import ManagedProcess, ProcessSpec

READY_WITHIN = timedelta(seconds=60)


class EmbeddedServer(ABC):
    """A server on loopback with a generated password. Its port is chosen at the first start and then kept."""

    name: str

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._port: int | None = None
        self._process: ManagedProcess | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """With user and password: never to be logged."""

    @abstractmethod
    async def check(self) -> None:
        """Raises ProbeFailedError while the server is not ready, PasswordRefusedError when waiting is of no use."""

    @abstractmethod
    async def prepare(self) -> ProcessSpec:
        """Write what the server needs and say how it is started."""

    @property
    def port(self) -> int:
        if self._port is None:
            self._port = self._folder.ports.choose(self.name)
        return self._port

    @property
    def process(self) -> ManagedProcess:
        if self._process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._process

    def attach(self) -> bool:
        """Use the address of a server that another process started; False when none ever was."""
        self._port = self._folder.ports.get(self.name)
        return self._port is not None

    async def start(self) -> None:
        """Start, and wait until ready. Raises ProcessFailedError or PasswordRefusedError with nothing left running."""
        spec = await self.prepare()
        self._process = ManagedProcess(spec)
        try:
            self._process.start()
            await self._process.wait_ready(self.check, READY_WITHIN)
            await self.complete()
        except PasswordRefusedError as refused:
            await self.stop()
            root = self._folder.root
            raise PasswordRefusedError(f"{refused}: secrets.json does not belong to the data in {root}") from None
        except BaseException:
            await self._process.kill()
            raise

    async def complete(self) -> None:  # noqa: B027
        """What remains to be done once the server answers."""

    async def stop(self, grace: timedelta = timedelta(seconds=10)) -> None:
        if self._process is not None:
            await self._process.stop(grace)

    async def wait(self) -> int:
        """Until it ends; its exit code."""
        return await self.process.wait()

    async def kill(self) -> None:
        """kill -9, with all descendants."""
        await self.process.kill()

    def kill_now(self) -> None:
        """The same without waiting."""
        if self._process is not None:
            self._process.kill_now()

    def log_tail(self, lines: int) -> str:
        return self._process.log_tail(lines) if self._process else ""

    def freeze(self) -> None:
        """SIGSTOP: connections stay open and nothing answers."""
        self.process.freeze()

    def thaw(self) -> None:
        self.process.thaw()

    async def restart(self) -> None:
        """Stop if it runs, and start on the same port and data."""
        await self.stop()
        await self.start()
