"""The walk of `achilles up`: servers, schema, demo knowledge, services."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.demo import ingest_demo_once
from services.achilles_cli.external import require_configured_servers
from services.achilles_cli.instance import PartAddress, RunningInstance
from services.achilles_cli.schema import upgrade_schemas
from services.achilles_cli.services_plan import (
    FRONT,
    KNOWLEDGE_STORE,
    WORKERS,
    Connections,
    bus_environment,
    choose_service_user,
    service_environment,
    service_spec,
    service_url,
)
from services.achilles_cli.supervisor.child import ServiceChild
from services.achilles_cli.supervisor.report import Report
from services.achilles_cli.supervisor.supervisor import Supervisor
from services.achilles_cli.urls import without_password
from shared.embedded.data_folder import DataFolder
from shared.embedded.server import EmbeddedServer
from shared.embedded.servers import EmbeddedServers
from shared.embedded.together import run_together
from shared.messaging.bus import provision_bus
from shared.messaging.bus_users import BUS_USERS


@dataclass(frozen=True, slots=True)
class Installation:
    """What one `achilles up` runs."""

    configuration: Configuration
    folder: DataFolder
    ports: Mapping[str, int]
    connections: Connections
    servers: tuple[EmbeddedServer, ...]
    bus_urls: Mapping[str, str] = field(repr=False)
    """Each service's own user of the embedded bus; empty where the bus is somebody else's."""
    with_demo: bool

    @property
    def url(self) -> str:
        return service_url(self.ports[FRONT])

    @property
    def knowledge_database_url(self) -> str | None:
        """`None` when the Knowledge Store is somebody else's."""
        if self.configuration.knowledge_url is not None:
            return None
        return self.configuration.knowledge_database_url or self.connections.database_url

    def describe(self, *, is_ready: bool) -> RunningInstance:
        connections, embedded = self.connections, {server.name for server in self.servers}
        addresses = [
            PartAddress(name=name, url=without_password(url), embedded=name in embedded)
            for name, url in (
                ("postgres", connections.database_url),
                ("nats", connections.nats_url),
                ("valkey", connections.redis_url),
            )
        ]
        if self.knowledge_database_url is None:
            url = without_password(connections.knowledge_url)
            addresses.append(PartAddress(name=KNOWLEDGE_STORE, url=url, embedded=False))
        addresses += [PartAddress(name=name, url=service_url(port)) for name, port in self.ports.items()]
        now = datetime.now(UTC)
        return RunningInstance(pid=os.getpid(), started_at=now, url=self.url, is_ready=is_ready, parts=tuple(addresses))


def plan_installation(configuration: Configuration, folder: DataFolder, *, with_demo: bool) -> Installation:
    """Choose ports and passwords; nothing is started. To be called by the holder of the folder's lock."""
    embedded = EmbeddedServers(folder, users=BUS_USERS)
    has_knowledge = configuration.knowledge_url is None
    names = (*((KNOWLEDGE_STORE,) if has_knowledge else ()), *WORKERS)
    ports = {name: folder.ports.choose(name) for name in names} | {FRONT: configuration.port}
    connections = Connections(
        database_url=configuration.database_url or embedded.postgres.url,
        nats_url=configuration.nats_url or embedded.nats.url,
        redis_url=configuration.redis_url or embedded.valkey.url,
        knowledge_url=configuration.knowledge_url or service_url(ports[KNOWLEDGE_STORE]),
        knowledge_token=configuration.knowledge_token
        or ("" if configuration.knowledge_url else folder.secrets.get_or_create("knowledge_token")),
    )
    wanted = (
        (embedded.postgres, configuration.database_url),
        (embedded.nats, configuration.nats_url),
        (embedded.valkey, configuration.redis_url),
    )
    servers = tuple(server for server, url in wanted if url is None)
    bus_urls = {} if configuration.nats_url else {name: embedded.nats.user_url(name) for name in ports}
    return Installation(configuration, folder, ports, connections, servers, bus_urls, with_demo)


async def start_installation(installation: Installation, supervisor: Supervisor, report: Report) -> None:
    """Until everything is ready. Raises EmbeddedError or CommandError."""
    await require_configured_servers(installation.configuration)
    await supervisor.start(*installation.servers)
    if installation.bus_urls:
        await provision_bus(installation.connections.nats_url)
    with report.timed("schema", "is current"):
        await upgrade_schemas(installation.connections.database_url, installation.knowledge_database_url)
    await run_together(_read_demo(installation, report), _start_services(installation, supervisor, report))


async def _read_demo(installation: Installation, report: Report) -> None:
    if installation.with_demo and installation.knowledge_database_url is not None:
        await ingest_demo_once(installation.folder.root, installation.knowledge_database_url, report)


async def _start_services(installation: Installation, supervisor: Supervisor, report: Report) -> None:
    children = make_services(installation, report)
    front = children.pop(FRONT)
    await supervisor.start(*children.values())
    await supervisor.start(front)


def make_services(installation: Installation, report: Report) -> dict[str, ServiceChild]:
    """By name, in the order of their start."""
    folder, home = installation.folder, installation.folder.root
    personal: dict[str, str] = {}
    user = choose_service_user(folder.run_as)
    if user is not None:
        home = folder.server_folder("services")
        personal = {"HOME": str(home), "USER": user.name, "LOGNAME": user.name}
    elif folder.run_as is not None:
        report.note(
            f"the services run as root: user {folder.run_as.name!r} cannot use this Python or project folder "
            f"(the database, bus and cache do run as {folder.run_as.name!r})"
        )
    environment = service_environment(installation.connections, installation.ports, home) | personal
    service_folder = dataclasses.replace(folder, run_as=user)
    return {
        name: ServiceChild(
            service_spec(name, port, environment | bus_environment(installation.bus_urls, name), service_folder)
        )
        for name, port in installation.ports.items()
    }
