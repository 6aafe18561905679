"""The services of Achilles as children: their ports, environment and readiness."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

import services
from services.achilles_cli.health import check_ready
from services.achilles_cli.supervisor.child import ChildSpec
from shared.embedded.data_folder import DataFolder
from shared.embedded.ports import LOOPBACK
from shared.embedded.processes import ProcessSpec
from shared.embedded.unprivileged import RunAs, can_run_services

FRONT = "chat_api"
KNOWLEDGE_STORE = "knowledge_store"
WORKERS = ("signal_worker", "trace_writer")
PROJECT = Path(services.__file__).resolve().parent.parent

PORT_VARIABLES = {
    FRONT: "ACHILLES_PORT",
    KNOWLEDGE_STORE: "ACHILLES_KNOWLEDGE_PORT",
    "signal_worker": "ACHILLES_SIGNAL_WORKER_PORT",
    "trace_writer": "ACHILLES_TRACE_WRITER_PORT",
}
_READY_WITHIN = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class Connections:
    """Where the parts find each other. URLs hold passwords."""

    database_url: str = field(repr=False)
    nats_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    knowledge_url: str
    knowledge_token: str = field(repr=False)


def service_url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def service_environment(connections: Connections, ports: Mapping[str, int], data_folder: Path) -> dict[str, str]:
    """Our own environment, so that models and logins can be configured, with the addresses of this installation."""
    environment = dict(os.environ)
    environment.update({PORT_VARIABLES[name]: str(port) for name, port in ports.items()})
    environment.update(
        ACHILLES_DATABASE_URL=connections.database_url,
        ACHILLES_NATS_URL=connections.nats_url,
        ACHILLES_REDIS_URL=connections.redis_url,
        ACHILLES_KNOWLEDGE_URL=connections.knowledge_url,
        ACHILLES_KNOWLEDGE_TOKEN=connections.knowledge_token,
        ACHILLES_FRONT_URL=service_url(ports[FRONT]),
        ACHILLES_HOST=LOOPBACK,
        ACHILLES_DATA_DIR=str(data_folder),
        PYTHONUNBUFFERED="1",
    )
    return environment


def bus_environment(bus_urls: Mapping[str, str], name: str) -> dict[str, str]:
    """The service's own user of the embedded bus. A front's may create nothing there."""
    if name not in bus_urls:
        return {}
    return {"ACHILLES_NATS_URL": bus_urls[name], "ACHILLES_NATS_PROVISION": "false" if name == FRONT else "true"}


def service_spec(name: str, port: int, environment: Mapping[str, str], folder: DataFolder) -> ChildSpec:
    """`folder.run_as` is the user the service runs as."""
    return ChildSpec(
        process=ProcessSpec(
            name=name,
            command=(sys.executable, "-m", f"services.{name}"),
            log_file=folder.logs / f"{name}.log",
            environment=environment,
            folder=PROJECT,
            run_as=folder.run_as,
            pid_file=folder.pids / f"{name}.pid",
        ),
        probe=partial(check_ready, service_url(port)),
        ready_within=_READY_WITHIN,
    )


def choose_service_user(run_as: RunAs | None) -> RunAs | None:
    """`run_as` where it can run our code, otherwise `None`: the interpreter may be closed to it."""
    if run_as is not None and can_run_services(run_as, sys.executable, PROJECT):
        return run_as
    return None
