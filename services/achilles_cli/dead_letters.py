"""`achilles dead-letters`: events that could not be applied."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.console import make_console, make_output_console, print_result
from services.achilles_cli.databases import find_databases
from services.achilles_cli.errors import CommandError, UsageError
from services.achilles_cli.exit_codes import EXIT_CODES_HELP, ExitCode
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of
from shared.database.engine import make_engine
from shared.messaging.dead_letters import DeadLetters, ReplayReport, StoredDeadLetter

Result = TypeVar("Result")
Ids = Annotated[list[UUID], typer.Argument(help="Ids of dead letters, as `list` shows them.")]

dead_letters = typer.Typer(
    help="Events that could not be applied: list, show, replay once the fault is mended, or discard.",
    no_args_is_help=True,
    epilog=EXIT_CODES_HELP,
)


@dead_letters.command(name="list", epilog=EXIT_CODES_HELP)
def list_letters(
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="At most so many, the newest first.")] = 50,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which events could not be applied, and why."""
    letters = _on_letters(data_dir, lambda store: store.newest(limit))
    if as_json:
        print_result(json.dumps([_summary(letter) for letter in letters]))
        return
    if not letters:
        make_console().print("There are no dead letters.")
        return
    from rich.table import Table

    table = Table("id", "consumer", "subject", "reason", "last seen", box=None, padding=(0, 2, 0, 0))
    for letter in letters:
        seen = letter.last_seen_at.isoformat(timespec="seconds")
        table.add_row(str(letter.id), letter.consumer, letter.subject, letter.reason_class, seen)
    make_output_console().print(table)


@dead_letters.command(epilog=EXIT_CODES_HELP)
def show(
    letter_id: Annotated[UUID, typer.Argument(metavar="ID", help="Id of a dead letter.")],
    data_dir: DataDirOption = None,
) -> None:
    """Show one dead letter with its event, as JSON."""
    letter = _on_letters(data_dir, lambda store: store.find(letter_id))
    if letter is None:
        raise UsageError(f"there is no dead letter {letter_id}: `achilles dead-letters list` shows those that are")
    payload = letter.payload.decode(errors="backslashreplace")
    print_result(json.dumps({**_summary(letter), "headers": letter.headers, "payload": payload}, ensure_ascii=False))


@dead_letters.command(epilog=EXIT_CODES_HELP)
def replay(letter_ids: Ids, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Send them again, each applied at most once. What fails again comes back as a dead letter."""
    report = _on_letters(data_dir, lambda store: store.replay(letter_ids))
    if as_json:
        print_result(json.dumps(asdict(report), default=str))
    else:
        _tell(report)
    if report.missing or report.refused:
        raise typer.Exit(ExitCode.INCOMPLETE)


@dead_letters.command(epilog=EXIT_CODES_HELP)
def discard(
    letter_ids: Ids,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give them up for good: what they would have changed is lost."""
    if not yes:
        typer.confirm(f"Discard {len(letter_ids)} event(s) for good?", abort=True, err=True)
    discarded = _on_letters(data_dir, lambda store: store.discard(letter_ids))
    missing = [letter_id for letter_id in letter_ids if letter_id not in discarded]
    if as_json:
        print_result(json.dumps({"discarded": discarded, "missing": missing}, default=str))
    else:
        make_console().print(f"discarded {len(discarded)}")
        _tell_missing(missing)
    if missing:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _on_letters(data_dir: DataDirOption, work: Callable[[DeadLetters], Awaitable[Result]]) -> Result:
    """Raises CommandError when the database cannot be asked."""
    databases = find_databases(Configuration.from_environment(), data_folder_of(data_dir))

    async def run() -> Result:
        engine = make_engine(databases.url, application_name="achilles-cli")
        try:
            return await work(DeadLetters(engine))
        except OSError as fault:
            raise CommandError(f"the database cannot be reached ({type(fault).__name__})", ExitCode.FAILED) from None
        finally:
            await engine.dispose()

    return asyncio.run(run())


def _summary(letter: StoredDeadLetter) -> dict[str, object]:
    return {
        "id": str(letter.id),
        "consumer": letter.consumer,
        "event_id": letter.event_id,
        "subject": letter.subject,
        "reason_class": letter.reason_class,
        "deliveries": letter.deliveries,
        "first_seen_at": letter.first_seen_at.isoformat(),
        "last_seen_at": letter.last_seen_at.isoformat(),
    }


def _tell(report: ReplayReport) -> None:
    console = make_console()
    console.print(f"sent again: {len(report.replayed)}")
    for letter_id, reason in report.refused:
        console.print(f"left where it is: {letter_id}: {reason}", markup=False)
    _tell_missing(report.missing)


def _tell_missing(missing: "list[UUID] | tuple[UUID, ...]") -> None:
    for letter_id in missing:
        make_console().print(f"there is no dead letter {letter_id}", markup=False)
