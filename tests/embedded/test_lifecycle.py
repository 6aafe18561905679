"""Starting, stopping, crashing and starting again on one data folder."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from shared.embedded.data_folder import DataFolder
from shared.embedded.errors import DataFolderInUseError, PasswordRefusedError, ProcessFailedError
from shared.embedded.postgres import EmbeddedPostgres
from shared.embedded.probes import check_postgres, connect_postgres
from shared.embedded.process_tree import still_running, wait_gone
from shared.embedded.servers import embedded_servers

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_PROJECT = Path(__file__).resolve().parents[2]
_HOLD_SERVERS = """
import asyncio, signal, sys
from pathlib import Path
from shared.embedded.servers import embedded_servers

async def main():
    async with embedded_servers(Path(sys.argv[1]), durable=False):
        print("ready", flush=True)
        await asyncio.Event().wait()

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
asyncio.run(main())
"""


def hold_servers(data_dir: Path) -> "subprocess.Popen[str]":
    owner = subprocess.Popen(
        [sys.executable, "-c", _HOLD_SERVERS, str(data_dir)], cwd=_PROJECT, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "ready\n"
    return owner


def start_stranger(uid: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "60"], user=uid if os.geteuid() == 0 else None, cwd="/")


async def test_what_was_written_is_there_after_stop_and_start_and_no_process_is_left(data_dir: Path) -> None:
    others = set(psutil.Process().children(recursive=True))
    async with embedded_servers(data_dir, durable=False) as first:
        urls = [server.url for server in first.all]
        connection = await connect_postgres(first.postgres.url)
        await connection.execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        await connection.close()
        children = [child for child in psutil.Process().children(recursive=True) if child not in others]
    assert len(children) > 3
    assert not still_running(children)
    assert not list((data_dir / "pids").iterdir())

    async with embedded_servers(data_dir, durable=False) as second:
        assert [server.url for server in second.all] == urls
        connection = await connect_postgres(second.postgres.url)
        assert await connection.fetchval("SELECT n FROM kept") == 7
        await connection.close()


async def test_a_data_folder_has_one_owner(data_dir: Path) -> None:
    owner = hold_servers(data_dir)
    try:
        with pytest.raises(DataFolderInUseError) as refused:
            async with embedded_servers(data_dir, durable=False):
                pytest.fail("two owners of one data folder")
        assert refused.value.pid == owner.pid
    finally:
        owner.kill()
        owner.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the children of a killed process by itself")
async def test_killed_owner_leaves_no_orphan_and_the_folder_can_be_used_again(data_dir: Path) -> None:
    owner = hold_servers(data_dir)
    children = psutil.Process(owner.pid).children(recursive=True)
    assert len(children) > 3
    owner.kill()
    owner.communicate()
    await wait_gone(children)
    assert not still_running(children)

    async with embedded_servers(data_dir, durable=False) as servers:
        await servers.postgres.check()


async def test_interrupting_the_owner_stops_the_servers(data_dir: Path) -> None:
    owner = hold_servers(data_dir)
    children = psutil.Process(owner.pid).children(recursive=True)
    owner.send_signal(signal.SIGINT)
    await asyncio.to_thread(owner.communicate, timeout=20)
    assert not still_running(children)


async def test_pid_file_that_names_a_stranger_does_not_keep_postgres_from_starting(data_dir: Path) -> None:
    postgres = EmbeddedPostgres(DataFolder.prepared(data_dir), durable=False)
    await postgres.start()
    pid_file = postgres.cluster / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    await postgres.kill()
    assert pid_file.exists()

    stranger = start_stranger(postgres.cluster.stat().st_uid)
    try:
        pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        await postgres.start()
        await check_postgres(postgres.url)
    finally:
        await postgres.stop()
        stranger.kill()
        stranger.wait()


async def test_an_interrupted_creation_is_repeated(data_dir: Path) -> None:
    half_made = data_dir / "postgres.new" / "cluster"
    half_made.mkdir(parents=True)
    (half_made / "PG_VERSION").write_text("18\n")

    postgres = EmbeddedPostgres(DataFolder.prepared(data_dir), durable=False)
    await postgres.start()
    await postgres.stop()
    assert not (data_dir / "postgres.new").exists()


async def test_lost_passwords_are_told_and_nothing_is_left_running(data_dir: Path) -> None:
    postgres = EmbeddedPostgres(DataFolder.prepared(data_dir), durable=False)
    await postgres.start()
    await postgres.stop()
    (data_dir / "secrets.json").unlink()

    with pytest.raises(PasswordRefusedError, match=r"secrets\.json"):
        await postgres.start()
    assert not postgres.process.is_running


async def test_a_port_taken_by_somebody_else_is_replaced(data_dir: Path) -> None:
    folder = DataFolder.prepared(data_dir)
    first = folder.ports.choose("postgres")
    listener = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", first)
    async with listener:
        postgres = EmbeddedPostgres(DataFolder.prepared(data_dir), durable=False)
        assert postgres.port != first


async def test_a_server_that_cannot_start_says_why(data_dir: Path) -> None:
    postgres = EmbeddedPostgres(DataFolder.prepared(data_dir), durable=False)
    await postgres.start()
    await postgres.stop()
    (postgres.cluster / "PG_VERSION").write_text("9.4\n")

    with pytest.raises(ProcessFailedError, match="before it was ready") as fault:
        await postgres.start()
    assert "incompatible" in fault.value.log_tail
