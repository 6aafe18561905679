"""Real PostgreSQL, NATS and Valkey for tests: configured by URL, else started here and stopped at the end."""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg
import nats
from redis.asyncio import Redis
from sqlalchemy.engine import make_url

from shared.embedded.data_folder import DataFolder
from shared.embedded.data_lock import DataFolderLock
from shared.embedded.servers import EmbeddedServers


@dataclass(frozen=True, slots=True)
class ServerUrls:
    """`embedded` is None when the servers are somebody else's: then nothing may kill or freeze them."""

    database: str
    nats: str
    redis: str
    embedded: EmbeddedServers | None


@contextmanager
def running_servers() -> Iterator[ServerUrls]:
    """The three servers. With all three URLs configured nothing is started."""
    configured = [os.environ.get(f"ACHILLES_TEST_{name}_URL") for name in ("DATABASE", "NATS", "REDIS")]
    if any(configured) and os.environ.get("PYTEST_XDIST_WORKER"):
        raise RuntimeError("servers of your own are emptied between tests: run pytest with -n 0")
    if all(configured):
        database, bus, redis = (str(url) for url in configured)
        yield ServerUrls(database, bus, redis, None)
        return
    # Not pytest's own temporary folder: its parents are closed to the unprivileged user that the servers run as.
    folder = Path(tempfile.mkdtemp(prefix="achilles-tests-"))
    with asyncio.Runner() as runner:
        data = DataFolder.prepared(folder)
        with DataFolderLock(data.root):
            servers = EmbeddedServers(data, durable=False)
            runner.run(servers.start())
            try:
                yield ServerUrls(servers.postgres.url, servers.nats.url, servers.valkey.url, servers)
            finally:
                runner.run(servers.stop())
    shutil.rmtree(folder, ignore_errors=True)


async def create_database(server_url: str, *, template: str = "template1") -> str:
    """A new database with a name of its own; returns its URL."""
    name = f"test_{uuid4().hex[:12]}"
    connection = await asyncpg.connect(server_url)
    try:
        await connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    finally:
        await connection.close()
    return make_url(server_url).set(database=name).render_as_string(hide_password=False)


async def drop_database(server_url: str, database_url: str) -> None:
    connection = await asyncpg.connect(server_url)
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{make_url(database_url).database}" WITH (FORCE)')
    finally:
        await connection.close()


async def empty_bus(nats_url: str) -> None:
    """Delete every stream, so that no test sees another one's messages."""
    client = await nats.connect(nats_url)
    try:
        jetstream = client.jetstream()
        for info in await jetstream.streams_info():
            with contextlib.suppress(nats.js.errors.NotFoundError):
                await jetstream.delete_stream(info.config.name or "")
    finally:
        await client.close()


async def empty_cache(redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    try:
        await redis.flushall()
    finally:
        await redis.aclose()
