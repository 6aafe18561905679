"""`achilles status`: which part is reachable."""

import asyncio

import typer
from pydantic import BaseModel, ConfigDict

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.console import make_output_console, print_result
from services.achilles_cli.errors import NothingRunningError
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.instance import RunningInstance, find_running_instance
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of


class PartStatus(BaseModel):
    """`reason` says why a part is not reachable. `url` has no password."""

    model_config = ConfigDict(frozen=True)

    name: str
    url: str
    is_reachable: bool
    reason: str | None = None


class InstallationStatus(BaseModel):
    """The answer of `achilles status --json`."""

    model_config = ConfigDict(frozen=True)

    url: str | None
    pid: int | None
    is_reachable: bool
    parts: tuple[PartStatus, ...]


def status(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Show each part and whether it is reachable, or why not."""
    from services.achilles_cli.status_checks import check_configured, check_instance

    configuration, root = Configuration.from_environment(), data_folder_of(data_dir)
    instance = find_running_instance(root)
    if instance is not None:
        parts = asyncio.run(check_instance(instance, root, configuration))
    else:
        parts = asyncio.run(check_configured(configuration))
    if not parts:
        raise NothingRunningError(f"nothing is running on {root}: start it with `achilles up`")
    _show(instance, parts, as_json=as_json)
    raise typer.Exit(ExitCode.OK if all(part.is_reachable for part in parts) else ExitCode.INCOMPLETE)


def _show(instance: RunningInstance | None, parts: tuple[PartStatus, ...], *, as_json: bool) -> None:
    if as_json:
        answer = InstallationStatus(
            url=instance.url if instance else None,
            pid=instance.pid if instance else None,
            is_reachable=all(part.is_reachable for part in parts),
            parts=parts,
        )
        print_result(answer.model_dump_json())
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for part in parts:
        mark = "[green]✓[/]" if part.is_reachable else "[red]✗[/]"
        table.add_row(mark, part.name, escape(part.url), escape(part.reason or "reachable"))
    console = make_output_console()
    console.print(table)
    if instance is not None:
        state = _state(instance, parts)
        console.print(f"\n{state}: [bold]{instance.url}[/] [dim](process {instance.pid})[/]")


def _state(instance: RunningInstance, parts: tuple[PartStatus, ...]) -> str:
    if not instance.is_ready:
        return "starting"
    return "ready" if all(part.is_reachable for part in parts) else "running, but not whole"
