"""`achilles doctor`: does everything run, and does what happens beside the answers still arrive?"""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.console import make_output_console, print_result
from services.achilles_cli.databases import find_databases
from services.achilles_cli.errors import NothingRunningError, UsageError
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.instance import find_running_instance
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of
from services.achilles_cli.status import PartStatus
from shared.database.engine import make_engine
from shared.messaging.leg_texts import leg_text
from shared.messaging.loop_health import OUR_CONSUMERS, HealthPolicy, LegState, judge, read_figures, worst

_MARKS: dict[LegState, str] = {"green": "[green]✓[/]", "amber": "[yellow]![/]", "red": "[red]✗[/]"}
_DATABASE_SECONDS = 8.0
_CANARIES_MISSED = 3


class Finding(BaseModel):
    """One part or leg. `text` says in plain words what is the matter and what to do."""

    model_config = ConfigDict(frozen=True)

    name: str
    state: LegState
    text: str


class Diagnosis(BaseModel):
    """The answer of `achilles doctor --json`; `state` is the worst of its findings."""

    model_config = ConfigDict(frozen=True)

    state: LegState
    findings: tuple[Finding, ...]


def doctor(
    canary_every: Annotated[
        float, typer.Option(min=0.1, help="Seconds between test events, if ACHILLES_CANARY_EVERY was changed.")
    ] = 30.0,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say of each part whether it works, and what to do where it does not. Exit status 1 if anything is red."""
    configuration, root = Configuration.from_environment(), data_folder_of(data_dir)
    policy = HealthPolicy(timedelta(seconds=canary_every), timedelta(seconds=canary_every * _CANARIES_MISSED))
    findings = asyncio.run(_examine(configuration, root, policy))
    diagnosis = Diagnosis(state=worst(findings), findings=findings)
    if as_json:
        print_result(diagnosis.model_dump_json())
    else:
        _show(diagnosis)
    raise typer.Exit(ExitCode.INCOMPLETE if diagnosis.state == "red" else ExitCode.OK)


async def _examine(configuration: Configuration, root: Path, policy: HealthPolicy) -> tuple[Finding, ...]:
    parts = [_of_part(part) for part in await _parts(configuration, root)]
    return (*parts, *await _legs(configuration, root, policy))


async def _parts(configuration: Configuration, root: Path) -> tuple[PartStatus, ...]:
    from services.achilles_cli.status_checks import check_configured, check_instance

    instance = find_running_instance(root)
    if instance is not None:
        return await check_instance(instance, root, configuration)
    parts = await check_configured(configuration)
    if not parts:
        raise NothingRunningError(f"nothing is running on {root}: start it with `achilles up`")
    return parts


async def _legs(configuration: Configuration, root: Path, policy: HealthPolicy) -> tuple[Finding, ...]:
    """From the database, so that they can be told while no front answers."""
    try:
        databases = find_databases(configuration, root)
    except (NothingRunningError, UsageError) as fault:
        return (Finding(name="loop", state="amber", text=f"not examined: {fault}"),)
    engine = make_engine(databases.url, application_name="achilles-doctor")
    try:
        async with asyncio.timeout(_DATABASE_SECONDS), engine.connect() as connection:
            figures = await read_figures(connection)
    except Exception as fault:  # noqa: BLE001 (whatever keeps it from telling is itself the finding)
        text = f"PostgreSQL does not tell how the events are doing ({type(fault).__name__}): `achilles migrate`?"
        return (Finding(name="loop", state="red", text=text),)
    finally:
        await engine.dispose()
    legs = judge(figures, OUR_CONSUMERS, policy)
    return tuple(Finding(name=leg.name, state=leg.state, text=leg_text(leg, "en")) for leg in legs)


def _of_part(part: PartStatus) -> Finding:
    if part.is_reachable:
        return Finding(name=part.name, state="green", text="reachable")
    return Finding(name=part.name, state="red", text=f"not reachable at {part.url}: {part.reason}")


def _show(diagnosis: Diagnosis) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for finding in diagnosis.findings:
        table.add_row(_MARKS[finding.state], finding.name, escape(finding.text))
    make_output_console().print(table)
