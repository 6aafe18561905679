"""Achilles as it really runs: its own servers, and every service as a process of its own."""

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx

from services.knowledge_store.storage.migrate import upgrade_knowledge_schema
from services.knowledge_store.wiring import ingest_folder
from shared.database.migrate import upgrade_schema
from shared.embedded.data_folder import DataFolder
from shared.embedded.data_lock import DataFolderLock
from shared.embedded.errors import ProbeFailedError
from shared.embedded.processes import ManagedProcess, ProcessSpec
from shared.embedded.servers import EmbeddedServers
from tests.support.front import RunningFront

PROJECT = Path(__file__).parents[2]
_PORT_VARIABLES = {
    "knowledge_store": "ACHILLES_KNOWLEDGE_PORT",
    "signal_worker": "ACHILLES_SIGNAL_WORKER_PORT",
    "trace_writer": "ACHILLES_TRACE_WRITER_PORT",
    "chat_api": "ACHILLES_PORT",
}
_READY_WITHIN = timedelta(seconds=120)


class Deployment:
    """Started once for a module of tests. Not bound to an event loop."""

    def __init__(self, servers: EmbeddedServers, logs: Path, more: Mapping[str, str]) -> None:
        self.servers = servers
        self.logs = logs
        self._more = more
        self._ports = {name: _free_port() for name in _PORT_VARIABLES}
        self.services = {name: self._process(name, logs) for name in _PORT_VARIABLES}
        self.front = RunningFront(f"http://127.0.0.1:{self._ports['chat_api']}")

    async def start(self) -> None:
        await upgrade_schema(self.servers.postgres.url)
        await upgrade_knowledge_schema(self.servers.postgres.url)
        for service in self.services.values():
            service.start()
        await asyncio.gather(*(self.ready(name) for name in self.services))

    async def stop(self) -> None:
        await asyncio.gather(*(service.stop() for service in self.services.values()))

    async def ready(self, name: str) -> None:
        await self.services[name].wait_ready(lambda: self._probe(name), _READY_WITHIN)

    async def kill(self, name: str) -> None:
        """kill -9."""
        await self.services[name].kill()

    async def restart(self, name: str) -> None:
        self.services[name].start()
        await self.ready(name)

    async def ingest(self, folder: Path) -> int:
        """Returns how many documents were added."""
        report = await ingest_folder(folder, database_url=self.servers.postgres.url, on_progress=lambda _progress: None)
        assert report.failures == ()
        return report.added

    def url_of(self, name: str) -> str:
        return f"http://127.0.0.1:{self._ports[name]}"

    async def _probe(self, name: str) -> None:
        try:
            async with httpx.AsyncClient(timeout=5) as client:
                response = await client.get(f"{self.url_of(name)}/readyz")
        except httpx.HTTPError as fault:
            raise ProbeFailedError(type(fault).__name__) from None
        if response.status_code != httpx.codes.OK:
            raise ProbeFailedError(response.text)

    def _process(self, name: str, folder: Path) -> ManagedProcess:
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("ACHILLES_")},
            **{variable: str(self._ports[service]) for service, variable in _PORT_VARIABLES.items()},
            "ACHILLES_DATABASE_URL": self.servers.postgres.url,
            "ACHILLES_NATS_URL": self.servers.nats.url,
            "ACHILLES_REDIS_URL": self.servers.valkey.url,
            "ACHILLES_KNOWLEDGE_URL": f"http://127.0.0.1:{self._ports['knowledge_store']}",
            "ACHILLES_KNOWLEDGE_TOKEN": "e2e-token",
            "ACHILLES_OUTBOX_RETRY_AFTER": "3",
            "ACHILLES_CONSUMER_CHECK_EVERY": "1",
            **self._more,
        }
        return ManagedProcess(
            ProcessSpec(
                name=name,
                command=(sys.executable, "-m", f"services.{name}"),
                log_file=folder / f"{name}.log",
                environment=environment,
                folder=PROJECT,
            )
        )


@contextmanager
def running_deployment(**environment: str) -> Iterator[Deployment]:
    """Servers and services that belong to this module alone, so that they may be killed. `environment` is what the
    services get beside their addresses."""
    folder = Path(tempfile.mkdtemp(prefix="achilles-e2e-"))
    with asyncio.Runner() as runner:
        data = DataFolder.prepared(folder)
        with DataFolderLock(data.root):
            servers = EmbeddedServers(data, durable=False)
            runner.run(servers.start())
            deployment = Deployment(servers, data.logs, environment)
            try:
                runner.run(deployment.start())
                yield deployment
            finally:
                runner.run(deployment.stop())
                runner.run(servers.stop())
    shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
