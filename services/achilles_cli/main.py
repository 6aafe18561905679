"""The command `achilles`."""

import os
import sys

import typer
from rich.markup import escape

from services.achilles_cli.ask import ask
from services.achilles_cli.console import make_console
from services.achilles_cli.dead_letters import dead_letters
from services.achilles_cli.doctor import doctor
from services.achilles_cli.errors import CommandError
from services.achilles_cli.exit_codes import EXIT_CODES_HELP, ExitCode
from services.achilles_cli.ingest import ingest
from services.achilles_cli.keys import keys
from services.achilles_cli.migrate import migrate
from services.achilles_cli.settings import settings
from services.achilles_cli.status import status
from services.achilles_cli.up import up
from services.achilles_cli.usage import usage
from services.achilles_cli.usage_report import export, show
from shared.embedded.errors import DataFolderInUseError, EmbeddedError, ProcessFailedError

app = typer.Typer(
    name="achilles",
    help="Grounded answers from what the asker may see, and a loop that learns from every correction.",
    epilog=EXIT_CODES_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (up, ask, ingest, status, doctor, migrate, settings):
    app.command(epilog=EXIT_CODES_HELP)(command)
app.add_typer(dead_letters, name="dead-letters")
app.add_typer(keys, name="keys")
for report in (show, export):
    usage.command(epilog=EXIT_CODES_HELP)(report)
app.add_typer(usage, name="usage")


def run() -> None:
    """Entry of the console script: a fault is one clear line on standard error, unless ACHILLES_DEBUG=1."""
    try:
        app()
    except CommandError as fault:
        _fail(fault, fault.code, fault.details)
    except DataFolderInUseError as fault:
        _fail(fault, ExitCode.ALREADY_RUNNING)
    except ProcessFailedError as fault:
        _fail(fault, ExitCode.FAILED, fault.log_tail)
    except EmbeddedError as fault:
        _fail(fault, ExitCode.FAILED)
    except KeyboardInterrupt as fault:
        _fail(fault, ExitCode.INTERRUPTED)
    except Exception as fault:  # noqa: BLE001 (the last stop before the person)
        _fail(fault, ExitCode.FAILED)


def _fail(fault: BaseException, code: ExitCode, details: str = "") -> None:
    if os.environ.get("ACHILLES_DEBUG") == "1":
        raise fault
    console = make_console()
    if details:
        console.print(details, style="dim", markup=False)
    text = " ".join(str(fault).split())
    if not isinstance(fault, CommandError | EmbeddedError):
        text = f"{type(fault).__name__}: {text}; ACHILLES_DEBUG=1 shows more" if text else type(fault).__name__
    console.print(f"[red]error:[/] {escape(text)}")
    sys.exit(code)


if __name__ == "__main__":
    run()
