"""`achilles up`: one command gives a working product."""

import asyncio
import dataclasses
from typing import Annotated

import psutil
import typer

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.errors import AlreadyRunningError, PortInUseError
from services.achilles_cli.instance import find_running_instance
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of
from shared.embedded.data_folder import DataFolder
from shared.embedded.data_lock import DataFolderLock
from shared.embedded.errors import DataFolderInUseError
from shared.embedded.ports import is_port_free

PortOption = Annotated[
    int | None,
    typer.Option("--port", min=1, max=65_535, help="Port of the chat.", show_default="ACHILLES_PORT, else 8000"),
]
DemoOption = Annotated[
    bool, typer.Option("--demo/--no-demo", help="Fill an empty Knowledge Store with the demo documents.")
]


def up(
    data_dir: DataDirOption = None, port: PortOption = None, with_demo: DemoOption = True, as_json: JsonOption = False
) -> None:
    """Run everything on this machine until Ctrl-C: database, bus, cache, Knowledge Store, workers and the chat.

    ACHILLES_DATABASE_URL, ACHILLES_NATS_URL, ACHILLES_REDIS_URL and ACHILLES_KNOWLEDGE_URL each replace an embedded
    part by your own.
    """
    from services.achilles_cli.supervise import supervise_installation

    configuration = Configuration.from_environment()
    configuration.require_loopback()
    if port is not None:
        configuration = dataclasses.replace(configuration, port=port)
    folder = DataFolder.prepared(data_folder_of(data_dir))
    try:
        with DataFolderLock(folder.root):
            _require_free(configuration.port)
            code = asyncio.run(supervise_installation(configuration, folder, with_demo=with_demo, as_json=as_json))
    except DataFolderInUseError as fault:
        raise _already_running(folder, fault) from None
    raise typer.Exit(code)


def _already_running(folder: DataFolder, fault: DataFolderInUseError) -> AlreadyRunningError:
    instance = find_running_instance(folder.root)
    if instance is None:
        return AlreadyRunningError(str(fault))
    state = "already runs" if instance.is_ready else "is already starting"
    return AlreadyRunningError(f"Achilles {state} on {folder.root} (process {instance.pid}): {instance.url}")


def _require_free(port: int) -> None:
    if not is_port_free(port):
        raise PortInUseError(
            f"port {port} is already in use{_holder_of(port)}: choose another with --port or ACHILLES_PORT"
        )


def _holder_of(port: int) -> str:
    try:
        pids = [c.pid for c in psutil.net_connections("tcp") if c.laddr and c.laddr.port == port and c.pid]
        return f" by process {pids[0]} ({psutil.Process(pids[0]).name()})" if pids else ""
    except psutil.Error:
        return ""
