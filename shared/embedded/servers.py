"""The three embedded servers together, for tests and for `achilles up`."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from shared.embedded.data_folder import DataFolder
from shared.embedded.data_lock import DataFolderLock
from shared.embedded.nats import FULL_USER, EmbeddedNats, NatsUser
from shared.embedded.postgres import EmbeddedPostgres
from shared.embedded.server import EmbeddedServer
from shared.embedded.together import run_together
from shared.embedded.valkey import EmbeddedValkey


class EmbeddedServers:
    """Created over a prepared data folder whose lock the caller holds. Not bound to an event loop."""

    def __init__(self, folder: DataFolder, *, durable: bool = True, users: Sequence[NatsUser] = (FULL_USER,)) -> None:
        self.postgres = EmbeddedPostgres(folder, durable=durable)
        self.nats = EmbeddedNats(folder, users)
        self.valkey = EmbeddedValkey(folder)

    @property
    def all(self) -> tuple[EmbeddedServer, ...]:
        return self.postgres, self.nats, self.valkey

    async def start(self) -> None:
        """Start all at once. Raises the first fault; then none is left running."""
        try:
            await run_together(*(server.start() for server in self.all))
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        await asyncio.gather(*(server.stop() for server in self.all))


@asynccontextmanager
async def embedded_servers(
    data_dir: Path, *, durable: bool = True, users: Sequence[NatsUser] = (FULL_USER,)
) -> AsyncIterator[EmbeddedServers]:
    """Running servers on `data_dir`, stopped at the end. Raises DataFolderInUseError for a folder already in use.

    Enter it in the main thread: the children die with the thread that started them.
    """
    folder = DataFolder.prepared(data_dir)
    with DataFolderLock(folder.root):
        servers = EmbeddedServers(folder, durable=durable, users=users)
        await servers.start()
        try:
            yield servers
        finally:
            await servers.stop()
