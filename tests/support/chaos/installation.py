"""Two fronts and two workers of each kind as processes, behind proxies, on servers that may be killed."""

import asyncio
import atexit
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import asyncpg
import httpx
from sqlalchemy.engine import make_url

from shared.database.migrate import upgrade_schema
from shared.embedded.data_folder import DataFolder
from shared.embedded.data_lock import DataFolderLock
from shared.embedded.errors import ProbeFailedError
from shared.embedded.ports import find_free_port
from shared.embedded.processes import ManagedProcess, ProcessSpec
from shared.embedded.server import EmbeddedServer
from shared.embedded.servers import EmbeddedServers
from shared.messaging.bus_users import BUS_USERS
from tests.support.chaos.plan import FRONTS, LINKS, OUTSIDE, WORKERS
from tests.support.stub_knowledge_store import STORE_TOKEN
from tests.support.tcp_proxy import TcpProxy

PROJECT = Path(__file__).parents[3]
_DATABASE_PASSWORD = "chaos"
_READY_WITHIN = timedelta(seconds=120)
_MODULES = {
    "front": "services.chat_api",
    "signal_worker": "services.signal_worker",
    "trace_writer": "services.trace_writer",
}
_PORT_VARIABLES = {
    "front": "ACHILLES_PORT",
    "signal_worker": "ACHILLES_SIGNAL_WORKER_PORT",
    "trace_writer": "ACHILLES_TRACE_WRITER_PORT",
}
_BUS_USER = {"front": "chat_api", "signal_worker": "signal_worker", "trace_writer": "trace_writer"}
# Short, so that a run of a minute sees several rounds of sending again, redelivery and leases.
_TIMES = {
    "ACHILLES_TURN_DEADLINE": "6",
    "ACHILLES_FINALISE_DEADLINE": "4",
    "ACHILLES_REAP_EVERY": "1",
    "ACHILLES_OUTBOX_RETRY_AFTER": "2",
    "ACHILLES_OUTBOX_RETRY_AT_MOST": "5",
    "ACHILLES_CONSUMER_CHECK_EVERY": "1",
    "ACHILLES_FETCH_WAIT": "1",
    "ACHILLES_ACK_WAIT": "6",
    "ACHILLES_CANARY_EVERY": "2",
    "ACHILLES_TURNS_PER_MINUTE": "0",
    "ACHILLES_CONCURRENT_STREAMS": "0",
}


def part_of(name: str) -> str:
    """`front-2` is a `front`."""
    return name.rpartition("-")[0] or name


class Installation:
    """`modules` replaces what is started for a part, such as `signal_worker`."""

    def __init__(self, data: DataFolder, *, modules: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._data = data
        self._modules = {part: (module,) for part, module in _MODULES.items()} | dict(modules or {})
        self.servers = EmbeddedServers(data, durable=False, users=BUS_USERS)
        self.proxies: dict[str, TcpProxy] = {}
        self.services: dict[str, ManagedProcess] = {}
        self._ports: dict[str, int] = {}

    @property
    def front_urls(self) -> tuple[str, ...]:
        return tuple(f"http://127.0.0.1:{self._ports[name]}" for name in FRONTS)

    def server(self, name: str) -> EmbeddedServer:
        return {server.name: server for server in self.servers.all}[name]

    async def start(self) -> None:
        await self.servers.start()
        await upgrade_schema(self.servers.postgres.url)
        await self._create_database_users()
        for link in LINKS:
            target = self.servers.postgres.url if link.endswith("postgres") else self.servers.nats.url
            self.proxies[link] = TcpProxy(target)
            await self.proxies[link].start()
        for name in (OUTSIDE, *FRONTS, *WORKERS):
            self._ports[name] = find_free_port(exclude=frozenset(self._ports.values()))
        for name in (OUTSIDE, *FRONTS, *WORKERS):
            self.services[name] = ManagedProcess(self._spec(name))
            self.services[name].start()
        await self.all_ready()

    async def stop(self) -> None:
        await asyncio.gather(*(service.kill() for service in self.services.values()))
        await asyncio.gather(*(proxy.stop() for proxy in self.proxies.values()))
        await self.servers.stop()

    async def all_ready(self) -> None:
        await asyncio.gather(*(self.ready(name) for name in self.services))

    async def ready(self, name: str) -> None:
        await self.services[name].wait_ready(lambda: _probe(self._ports[name]), _READY_WITHIN)

    async def wipe_streams(self) -> None:
        """The broker dies, and everything it had stored is gone."""
        await self.servers.nats.kill()
        shutil.rmtree(self._data.root / "nats", ignore_errors=True)
        await self.servers.nats.start()

    async def _create_database_users(self) -> None:
        """One for each process, so that the database can tell who did what."""
        connection = await asyncpg.connect(self.servers.postgres.url)
        try:
            for name in (*FRONTS, *WORKERS):
                await connection.execute(f"CREATE ROLE \"{name}\" SUPERUSER LOGIN PASSWORD '{_DATABASE_PASSWORD}'")
        finally:
            await connection.close()

    def _database_url(self, name: str) -> str:
        own = make_url(self.servers.postgres.url).set(username=name, password=_DATABASE_PASSWORD)
        return own.render_as_string(hide_password=False)

    def log_tails(self) -> str:
        return "\n".join(f"--- {name}\n{service.log_tail(15)}" for name, service in self.services.items())

    def _spec(self, name: str) -> ProcessSpec:
        return ProcessSpec(
            name=name,
            command=(sys.executable, "-m", *self._command(name)),
            log_file=self._data.logs / f"{name}.log",
            environment=self._environment(name),
            folder=PROJECT,
        )

    def _command(self, name: str) -> tuple[str, ...]:
        if name == OUTSIDE:
            return ("tests.support.chaos.outside_world", str(self._ports[name]))
        return self._modules[part_of(name)]

    def _environment(self, name: str) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("ACHILLES_")}
        inherited.pop("PYTHONDONTWRITEBYTECODE", None)
        inherited["PYTHONPYCACHEPREFIX"] = _bytecode_folder()
        if name == OUTSIDE:
            return inherited
        part = part_of(name)
        side = "fronts" if part == "front" else "workers"
        outside = f"http://127.0.0.1:{self._ports[OUTSIDE]}"
        bus_url = self.servers.nats.user_url(_BUS_USER[part])
        return {
            **inherited,
            **_TIMES,
            _PORT_VARIABLES[part]: str(self._ports[name]),
            "ACHILLES_DATABASE_URL": self.proxies[f"{side}-postgres"].through(self._database_url(name)),
            "ACHILLES_NATS_URL": self.proxies[f"{side}-nats"].through(bus_url),
            "ACHILLES_NATS_PROVISION": "false" if part == "front" else "true",
            "ACHILLES_REDIS_URL": self.servers.valkey.url,
            "ACHILLES_KNOWLEDGE_URL": outside,
            "ACHILLES_KNOWLEDGE_TOKEN": STORE_TOKEN,
            "ACHILLES_MODEL_BASE_URL": f"{outside}/v1",
            "ACHILLES_MODEL": "served-1",
        }


@functools.cache
def _bytecode_folder() -> str:
    """Processes that are killed again and again must start quickly, and nothing is written beside the sources."""
    folder = tempfile.mkdtemp(prefix="achilles-bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


async def _probe(port: int) -> None:
    try:
        async with httpx.AsyncClient(timeout=5) as client:
            response = await client.get(f"http://127.0.0.1:{port}/readyz")
    except httpx.HTTPError as fault:
        raise ProbeFailedError(type(fault).__name__) from None
    if response.status_code != httpx.codes.OK:
        raise ProbeFailedError(response.text)


@asynccontextmanager
async def running_installation(modules: Mapping[str, tuple[str, ...]] | None = None) -> AsyncIterator[Installation]:
    """Everything of its own, so that everything may be killed; nothing is left behind."""
    folder = Path(tempfile.mkdtemp(prefix="achilles-chaos-"))
    data = DataFolder.prepared(folder)
    with DataFolderLock(data.root):
        installation = Installation(data, modules=modules)
        try:
            await installation.start()
            yield installation
        finally:
            await installation.stop()
    shutil.rmtree(folder, ignore_errors=True)
