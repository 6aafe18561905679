"""One check for each part, all at once."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

# Loaded ahead: on a busy machine, loading them inside a check would use up its deadline.
import asyncpg  # noqa: F401
import nats  # noqa: F401
import redis.asyncio  # noqa: F401

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.health import check_knowledge_store, check_ready
from services.achilles_cli.instance import PartAddress, RunningInstance
from services.achilles_cli.services_plan import KNOWLEDGE_STORE, PORT_VARIABLES
from services.achilles_cli.status import PartStatus
from services.achilles_cli.urls import without_password
from shared.embedded.data_folder import DataFolder
from shared.embedded.errors import PasswordRefusedError, ProbeFailedError
from shared.embedded.probes import check_nats, check_postgres, check_valkey
from shared.embedded.server import EmbeddedServer
from shared.embedded.servers import EmbeddedServers

_DEADLINE_SECONDS = 8.0
_URL_VARIABLES = {"postgres": "ACHILLES_DATABASE_URL", "nats": "ACHILLES_NATS_URL", "valkey": "ACHILLES_REDIS_URL"}


@dataclass(frozen=True, slots=True)
class _Check:
    name: str
    url: str
    ask: Callable[[], Awaitable[None]] = field(repr=False)


async def check_instance(instance: RunningInstance, root: Path, configuration: Configuration) -> tuple[PartStatus, ...]:
    """Every part of a running instance, with the passwords kept in its data folder."""
    embedded = {server.name: server for server in EmbeddedServers(DataFolder(root)).all}
    configured = {check.name: check for check in _configured_servers(configuration)}
    return await _run(_check_of(part, embedded, configured) for part in instance.parts)


async def check_configured(
    configuration: Configuration, environment: Mapping[str, str] = os.environ
) -> tuple[PartStatus, ...]:
    """Servers named in the environment, and the services whose ports it names; empty when it names no server."""
    servers = list(_configured_servers(configuration))
    if not servers:
        return ()
    known = {check.name for check in servers}
    urls = {
        name: f"http://{configuration.host}:{environment[variable]}"
        for name, variable in PORT_VARIABLES.items()
        if environment.get(variable) and name not in known
    }
    return await _run((*servers, *(_Check(name, url, partial(check_ready, url)) for name, url in urls.items())))


def _configured_servers(configuration: Configuration) -> Iterator[_Check]:
    if url := configuration.database_url:
        yield _Check("postgres", without_password(url), partial(check_postgres, url))
    if url := configuration.nats_url:
        yield _Check("nats", without_password(url), partial(check_nats, url))
    if url := configuration.redis_url:
        yield _Check("valkey", without_password(url), partial(check_valkey, url))
    if url := configuration.knowledge_url:
        ask = partial(check_knowledge_store, url, configuration.knowledge_token)
        yield _Check(KNOWLEDGE_STORE, without_password(url), ask)


def _check_of(part: PartAddress, embedded: Mapping[str, EmbeddedServer], configured: Mapping[str, _Check]) -> _Check:
    if part.embedded and part.name in embedded:
        server = embedded[part.name]
        server.attach()
        return _Check(part.name, part.url, server.check)
    if part.embedded:
        return _Check(part.name, part.url, partial(check_ready, part.url))
    return configured.get(part.name) or _Check(part.name, part.url, partial(_unknown, part.name))


async def _unknown(name: str) -> None:
    variable = _URL_VARIABLES.get(name, "ACHILLES_KNOWLEDGE_URL")
    raise ProbeFailedError(f"your own server: set {variable} here as well, to have it checked")


async def _run(checks: "Iterator[_Check] | tuple[_Check, ...]") -> tuple[PartStatus, ...]:
    return tuple(await asyncio.gather(*(_ask(check) for check in checks)))


async def _ask(check: _Check) -> PartStatus:
    try:
        async with asyncio.timeout(_DEADLINE_SECONDS):
            await check.ask()
    except (ProbeFailedError, PasswordRefusedError) as fault:
        reason = str(fault)
    except TimeoutError:
        reason = "no answer"
    else:
        return PartStatus(name=check.name, url=check.url, is_reachable=True)
    return PartStatus(name=check.name, url=check.url, is_reachable=False, reason=reason)
