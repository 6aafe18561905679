"""The three servers as a client sees them."""

import os
from pathlib import Path

import nats
import psutil
import pytest
import redis.asyncio
from nats.aio.client import Client

from shared.embedded.errors import PasswordRefusedError, ProbeFailedError
from shared.embedded.probes import check_nats, check_postgres, check_valkey, connect_postgres
from shared.embedded.process_tree import still_running
from shared.embedded.processes import ManagedProcess
from shared.embedded.server import EmbeddedServer
from shared.embedded.servers import EmbeddedServers

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.asyncio(loop_scope="module")]

_CHECKS = {"postgres": check_postgres, "nats": check_nats, "valkey": check_valkey}


def pid_of(process: ManagedProcess) -> int:
    assert process.pid is not None
    return process.pid


def processes_of(server: EmbeddedServer) -> list[psutil.Process]:
    top = psutil.Process(pid_of(server.process))
    return [top, *top.children(recursive=True)]


def password_of(server: EmbeddedServer) -> str:
    return server.url.rpartition("@")[0].rpartition(":")[2]


def supplementary_groups_of(process: psutil.Process) -> list[str]:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return status.partition("Groups:")[2].splitlines()[0].split()


@pytest.mark.parametrize("name", _CHECKS)
async def test_the_url_lets_a_client_in(servers: EmbeddedServers, name: str) -> None:
    await _CHECKS[name]({server.name: server for server in servers.all}[name].url)


@pytest.mark.parametrize("name", _CHECKS)
async def test_a_wrong_password_is_refused(servers: EmbeddedServers, name: str) -> None:
    server = {server.name: server for server in servers.all}[name]
    wrong = server.url.replace(password_of(server), "wrong")
    with pytest.raises(PasswordRefusedError) as refused:
        await _CHECKS[name](wrong)
    assert "wrong" not in str(refused.value)


async def test_no_password_is_on_a_command_line_or_in_an_environment(servers: EmbeddedServers) -> None:
    passwords = [password_of(server) for server in servers.all]
    seen = [
        text
        for server in servers.all
        for process in processes_of(server)
        for text in (*process.cmdline(), *process.environ().values())
    ]
    assert seen
    assert not [text for text in seen if any(password in text for password in passwords)]


async def test_no_password_is_in_a_log(servers: EmbeddedServers) -> None:
    logs = [server.process.spec.log_file.read_text() for server in servers.all]
    assert all(logs)
    assert not [log for log in logs if any(password_of(server) in log for server in servers.all)]


async def test_files_with_passwords_are_for_their_owner_only(servers: EmbeddedServers) -> None:
    root = servers.valkey.process.spec.log_file.parent.parent
    holding = [
        path
        for path in (*root.glob("*.json"), *(root / "config").iterdir())
        if any(password_of(server) in path.read_text() for server in servers.all)
    ]
    assert {path.name for path in holding} == {"secrets.json", "nats.conf", "valkey.conf"}
    assert [oct(path.stat().st_mode & 0o777) for path in holding] == ["0o600"] * 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to change to")
async def test_servers_started_by_root_run_without_rights(servers: EmbeddedServers) -> None:
    for server in servers.all:
        for process in processes_of(server):
            assert 0 not in (*process.uids(), *process.gids())
            assert not supplementary_groups_of(process)


async def test_servers_listen_on_loopback_only(servers: EmbeddedServers) -> None:
    for server in servers.all:
        listening = [
            connection.laddr.ip
            for process in processes_of(server)
            for connection in process.net_connections("all")
            if connection.status == psutil.CONN_LISTEN
        ]
        assert set(listening) == {"127.0.0.1"}


async def test_postgres_has_the_extensions_and_the_letters_we_need(servers: EmbeddedServers) -> None:
    connection = await connect_postgres(servers.postgres.url)
    try:
        for extension in ("vector", "pg_trgm", "unaccent"):
            await connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        assert await connection.fetchval("SELECT lower('ЁЖ ÄÖÜ')") == "ёж äöü"
        assert (
            await connection.fetchval("SELECT to_tsvector('russian', '«Отпуск» — дни')::text") == "'дни':2 'отпуск':1"
        )
        assert await connection.fetchval("SHOW data_checksums") == "on"
    finally:
        await connection.close()


async def test_killed_postgres_comes_back_on_its_port_with_what_was_committed(servers: EmbeddedServers) -> None:
    url = servers.postgres.url
    connection = await connect_postgres(url)
    await connection.execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
    before = processes_of(servers.postgres)

    await servers.postgres.kill()
    assert not still_running(before)
    with pytest.raises(ProbeFailedError):
        await check_postgres(url)
    await servers.postgres.restart()

    assert servers.postgres.url == url
    again = await connect_postgres(url)
    assert await again.fetchval("SELECT n FROM kept") == 7
    await again.close()
    connection.terminate()


async def test_killed_nats_comes_back_with_its_streams(servers: EmbeddedServers) -> None:
    client = await nats.connect(servers.nats.url)
    await client.jetstream().add_stream(name="KEPT", subjects=["kept"])
    await client.jetstream().publish("kept", b"7")
    await client.close()

    await servers.nats.kill()
    await servers.nats.restart()

    client = await nats.connect(servers.nats.url)
    assert (await client.jetstream().get_last_msg("KEPT", "kept")).data == b"7"
    await client.close()


async def test_restarted_valkey_is_empty(servers: EmbeddedServers) -> None:
    async with redis.asyncio.from_url(servers.valkey.url) as client:
        await client.set("k", "v")
    await servers.valkey.restart()
    async with redis.asyncio.from_url(servers.valkey.url) as client:
        assert await client.get("k") is None


@pytest.mark.parametrize("name", _CHECKS)
async def test_frozen_server_answers_again_once_thawed(servers: EmbeddedServers, name: str) -> None:
    server = {server.name: server for server in servers.all}[name]
    server.freeze()
    try:
        with pytest.raises(ProbeFailedError):
            await server.check()
    finally:
        server.thaw()
    await server.check()


async def test_a_frozen_server_can_be_restarted(servers: EmbeddedServers) -> None:
    servers.nats.freeze()
    await servers.nats.restart()
    await servers.nats.check()


async def test_monitoring_shows_the_server(servers: EmbeddedServers) -> None:
    assert servers.nats.monitor_url.startswith("http://127.0.0.1:")
    client: Client = await nats.connect(servers.nats.url)
    assert client.connected_url is not None
    await client.close()
