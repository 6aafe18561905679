"""The bus of the chart, as three servers with TLS on this computer: one of them may die."""

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client
from nats.errors import Error as NatsError

from shared.embedded.errors import ProbeFailedError
from shared.embedded.ports import find_free_port
from shared.embedded.processes import ManagedProcess, ProcessSpec
from shared.embedded.programs import find_nats
from shared.events.accessed import SourceAccessed
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.bus import Bus, BusUnavailableError, connect_nats
from shared.messaging.bus_users import BUS_USERS
from shared.messaging.provisioning import ensure_streams
from tests.support.deploy_files import chart_objects, named
from tests.support.folders import folder_for_servers
from tests.support.waiting import eventually
from tests.support.write_bus_users import password_variable

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_SERVERS = 3
_NOT_YET = (OSError, TimeoutError, NatsError, BusUnavailableError)


class Cluster:
    """The chart's own configuration; only names, ports and folders are of this computer."""

    def __init__(self, folder: Path) -> None:
        configuration = named(chart_objects(), "ConfigMap", "achilles-nats")["data"]
        taken: set[int] = set()
        for _ in range(3 * _SERVERS):
            taken.add(find_free_port(exclude=frozenset(taken)))
        ports = iter(sorted(taken))
        self._clients, self._routes, self._monitors = ([next(ports) for _ in range(_SERVERS)] for _ in range(3))
        self.servers = [self._server(folder / f"nats-{number}", number, configuration) for number in range(_SERVERS)]

    def url(self, user: str, number: int) -> str:
        return f"tls://{user}:word@127.0.0.1:{self._clients[number]}"

    async def start(self) -> None:
        for server in self.servers:
            server.start()
        await asyncio.gather(*(server.wait_ready(self._check, timedelta(seconds=60)) for server in self.servers))

    async def stop(self) -> None:
        await asyncio.gather(*(server.kill() for server in self.servers))

    async def _check(self) -> None:
        """A leader is there: JetStream answers who may ask it."""
        try:
            client = await nats.connect(self.url("achilles", 0), allow_reconnect=False, connect_timeout=2)
            try:
                await client.jetstream(timeout=2).account_info()
            finally:
                await client.close()
        except _NOT_YET as fault:
            raise ProbeFailedError(type(fault).__name__) from None

    def _server(self, folder: Path, number: int, configuration: dict[str, str]) -> ManagedProcess:
        folder.mkdir()
        for name, text in configuration.items():
            (folder / name).write_text(self._here(text, folder, number))
        passwords = "".join(f'{password_variable(user)}: "word"\n' for user in BUS_USERS)
        (folder / "passwords.conf").write_text(passwords)
        shutil.copytree(folder.parent / "tls", folder / "tls")
        return ManagedProcess(
            ProcessSpec(
                name=folder.name,
                command=(str(find_nats().executable), "--config", str(folder / "nats.conf")),
                log_file=folder / "nats.log",
                environment={"POD_NAME": f"achilles-nats-{number}"},
                folder=folder,
            )
        )

    def _here(self, text: str, folder: Path, number: int) -> str:
        text = text.replace('"0.0.0.0:4222"', f'"127.0.0.1:{self._clients[number]}"')
        text = text.replace('"0.0.0.0:6222"', f'"127.0.0.1:{self._routes[number]}"')
        text = text.replace('"0.0.0.0:8222"', f'"127.0.0.1:{self._monitors[number]}"')
        text = re.sub(
            r"nats://achilles-nats-(\d)\.[\w.-]+:6222", lambda at: f"nats://127.0.0.1:{self._routes[int(at[1])]}", text
        )
        for theirs, ours in (("/data", "data"), ("/tmp/nats.pid", "nats.pid"), ("/etc/nats-tls/", "tls/")):
            text = text.replace(f'"{theirs}', f'"{folder}/{ours}')
        return text


def _make_certificate(folder: Path) -> None:
    folder.mkdir()
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bus -addext subjectAltName=IP:127.0.0.1"
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    files = ["-keyout", "tls.key", "-out", "tls.crt"]
    subprocess.run([*command.split(), *files], cwd=folder, check=True, capture_output=True)
    shutil.copy(folder / "tls.crt", folder / "ca.crt")


@asynccontextmanager
async def _running_cluster() -> AsyncIterator[Cluster]:
    with folder_for_servers() as folder:
        _make_certificate(folder / "tls")
        before = os.environ.get("SSL_CERT_FILE")
        os.environ["SSL_CERT_FILE"] = str(folder / "tls" / "ca.crt")
        cluster = Cluster(folder)
        try:
            await cluster.start()
            yield cluster
        finally:
            await cluster.stop()
            os.environ.pop("SSL_CERT_FILE")
            if before is not None:
                os.environ["SSL_CERT_FILE"] = before


async def test_events_are_kept_and_taken_when_a_server_of_the_bus_dies() -> None:
    async with _running_cluster() as cluster:
        worker = await connect_nats(cluster.url("signal_worker", 0), name="signal_worker")
        await eventually(lambda: _provisioned(worker))
        found = await worker.jetstream(timeout=5).stream_info(SIGNAL_STREAM)
        assert found.config.num_replicas == _SERVERS
        bus = Bus(cluster.url("chat_api", 2), name="chat_api", provision=())
        bus.start()
        try:
            await eventually(lambda: _published(bus))
            await cluster.servers[0].kill()
            await eventually(lambda: _published(bus), within=60)
        finally:
            await bus.stop()
            await worker.close()
        rest = await connect_nats(cluster.url("achilles", 1), name="operator")
        kept = await rest.jetstream(timeout=5).stream_info(SIGNAL_STREAM)
        await rest.close()
        assert kept.state.messages >= 2


async def _provisioned(client: Client) -> bool:
    try:
        await ensure_streams(client.jetstream(timeout=5), (SIGNAL_STREAM,), replicas=_SERVERS)
    except _NOT_YET:
        return False
    return True


async def _published(bus: Bus) -> bool:
    try:
        await bus.publish(SourceAccessed.subject, b"{}", stream=SIGNAL_STREAM, headers={})
    except _NOT_YET:
        return False
    return True
