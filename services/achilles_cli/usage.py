"""`achilles usage`: what models used and cost."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.console import make_console, print_result
from services.achilles_cli.databases import find_databases
from services.achilles_cli.errors import CommandError, UsageError
from services.achilles_cli.exit_codes import EXIT_CODES_HELP, ExitCode
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of
from shared.database.engine import make_engine
from shared.usage.recount import Progress as MonthsDone
from shared.usage.recount import Recount, check_sums, set_sums_right
from shared.usage.time_zone import UnknownTimeZoneError

_LONGEST = timedelta(hours=6)

usage = typer.Typer(help="What models used and cost.", no_args_is_help=True, epilog=EXIT_CODES_HELP)


@usage.callback()
def _group() -> None:
    """Keeps `recount` a name of its own as long as it is the only command."""


@usage.command(epilog=EXIT_CODES_HELP)
def recount(
    time_zone: Annotated[
        str, typer.Option(metavar="NAME", help="Make this the time zone of business days, such as Europe/Berlin.")
    ] = "",
    check: Annotated[bool, typer.Option("--check", help="Only compare; exit status 1 if the sums are wrong.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count all calls again and set the sums of the days right, or only compare.

    Workers wait until it is done and lose nothing. With --check nobody waits.
    """
    if check and time_zone:
        raise UsageError("--check only compares: give --time-zone without it")
    found = asyncio.run(
        _recount(find_databases(Configuration.from_environment(), data_folder_of(data_dir)).url, time_zone, check=check)
    )
    if as_json:
        print_result(json.dumps({**asdict(found), "agrees": found.agrees}))
    else:
        _tell(found, check=check)
    if check and not found.agrees:
        raise typer.Exit(ExitCode.INCOMPLETE)


async def _recount(database_url: str, time_zone: str, *, check: bool) -> Recount:
    engine = make_engine(database_url, application_name="achilles-cli", pool_size=1, statement_timeout=_LONGEST)
    try:
        with _progress() as progress:
            if check:
                return await check_sums(engine, progress)
            return await set_sums_right(engine, progress, time_zone or None)
    except UnknownTimeZoneError as fault:
        raise UsageError(str(fault)) from None
    except OSError as fault:
        raise CommandError(f"the database cannot be reached ({type(fault).__name__})", ExitCode.FAILED) from None
    finally:
        await engine.dispose()


@contextmanager
def _progress() -> Iterator[MonthsDone]:
    console = make_console()
    columns = (TextColumn("recounting"), BarColumn(), MofNCompleteColumn(), TextColumn("months"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("recounting", total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show


def _tell(found: Recount, *, check: bool) -> None:
    console = make_console()
    console.print(f"{found.calls} calls in {found.rows} sums, business days of {found.time_zone}", markup=False)
    if found.agrees:
        console.print("the sums agree with the calls")
        return
    differences = f"{found.wrong} wrong, {found.missing} missing, {found.spare} without calls"
    console.print(f"{'the sums do not agree' if check else 'set right'}: {differences}")
