"""Everything that a turn touches, running: real servers, workers, front, and the scripted model and store."""

import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Container
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.turn.asking import Asker, asking
from benchmarks.turn.processes import Child, child
from shared.database.migrate import upgrade_schema
from shared.embedded.servers import EmbeddedServers, embedded_servers

PACES = ("pace-5", "pace-60", "pace-1000")
_MEASURED = ("chat_api", "floor")
_CORES = os.sched_getaffinity(0)


@dataclass(frozen=True, slots=True)
class Stage:
    """Fronts and the floor share `core`; all others run on `other_core`. `front` is the one that is measured."""

    servers: EmbeddedServers
    upstream: Child
    store: Child
    floor: Child
    front: Child

    @property
    def database_url(self) -> str:
        return self.servers.postgres.url

    def database_pids(self) -> list[int]:
        """The processes of PostgreSQL, one of them for each connection."""
        root = self.servers.postgres.process.pid
        return [one.pid for one in psutil.Process(root).children(recursive=True)] if root else []

    @asynccontextmanager
    async def asker(self) -> AsyncIterator[Asker]:
        async with asking(self.front.url, self.upstream.url) as asker:
            yield asker


class Setting:
    """Starts what a stage needs, each with a port and a log of its own. Parts that are `measured` have a core apart."""

    def __init__(self, servers: EmbeddedServers, folder: Path, stack: AsyncExitStack, measured: Container[str]) -> None:
        self.servers = servers
        self._folder = folder
        self._stack = stack
        self._measured = measured
        self.other_core, self.core = sorted(_CORES)[:2]

    def start(self, module: str, *arguments: str, **environment: str) -> Child:
        """`environment` and `arguments` may hold `{port}`."""
        port = _free_port()
        name = module.rpartition(".")[2]
        return self._stack.enter_context(
            child(
                module,
                *(argument.format(port=port) for argument in arguments),
                url=_url(port),
                core=self.core if name in self._measured else self.other_core,
                log=self._folder / f"{name}.log",
                environment={name: value.format(port=port) for name, value in environment.items()},
            )
        )

    def start_service(self, module: str, **environment: str) -> Child:
        return self.start(
            module,
            ACHILLES_DATABASE_URL=self.servers.postgres.url,
            ACHILLES_NATS_URL=self.servers.nats.url,
            **environment,
        )

    def start_front(self, upstream: Child, store: Child) -> Child:
        return self.start_service(
            "services.chat_api",
            ACHILLES_PORT="{port}",
            ACHILLES_REDIS_URL=self.servers.valkey.url,
            ACHILLES_KNOWLEDGE_URL=store.url,
            ACHILLES_KNOWLEDGE_TOKEN="benchmark",
            ACHILLES_MODEL_BASE_URL=f"{upstream.url}/v1",
            ACHILLES_MODEL=PACES[0],
            ACHILLES_MODELS=",".join(PACES[1:]),
            # Counted as always, and never reached.
            ACHILLES_TURNS_PER_MINUTE="1000000",
            ACHILLES_CONCURRENT_STREAMS="1000000",
        )


@asynccontextmanager
async def open_setting(measured: Container[str]) -> AsyncIterator[Setting]:
    """Running servers with the schema. All but what is measured stays on one core. Needs two cores."""
    os.sched_setaffinity(0, {min(_CORES)})
    folder = Path(tempfile.mkdtemp(prefix="achilles-bench-"))
    try:
        async with AsyncExitStack() as stack:
            servers = await stack.enter_async_context(embedded_servers(folder))
            await upgrade_schema(servers.postgres.url)
            yield Setting(servers, folder, stack, measured)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def open_stage() -> AsyncIterator[Stage]:
    async with open_setting(_MEASURED) as setting:
        upstream = setting.start("benchmarks.turn.upstream", "{port}")
        store = setting.start("benchmarks.turn.store", "{port}")
        floor = setting.start("benchmarks.turn.floor", "{port}", f"{upstream.url}/v1/chat/completions")
        signals = setting.start_service("services.signal_worker", ACHILLES_SIGNAL_WORKER_PORT="{port}")
        traces = setting.start_service("services.trace_writer", ACHILLES_TRACE_WRITER_PORT="{port}")
        front = setting.start_front(upstream, store)
        for one in (upstream, store, floor, signals, traces, front):
            await one.ready()
        yield Stage(setting.servers, upstream, store, floor, front)


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
