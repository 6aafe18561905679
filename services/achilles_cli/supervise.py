"""Run an installation until somebody stops it."""

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.console import make_console, print_result
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.instance import forget_instance
from services.achilles_cli.startup import Installation, plan_installation, start_installation
from services.achilles_cli.supervisor.report import Report
from services.achilles_cli.supervisor.run import run_until_stopped
from services.achilles_cli.supervisor.supervisor import Supervisor
from shared.embedded.data_folder import DataFolder


async def supervise_installation(
    configuration: Configuration, folder: DataFolder, *, with_demo: bool, as_json: bool
) -> ExitCode:
    """Start, say so, and wait for Ctrl-C or TERM; nothing is left running. The caller holds the folder's lock.

    Raises EmbeddedError or CommandError when a part does not start.
    """
    report = Report(make_console())
    supervisor = Supervisor(report)
    installation = plan_installation(configuration, folder, with_demo=with_demo)

    async def start() -> None:
        await start_installation(installation, supervisor, report)
        _announce(installation, report, as_json=as_json)

    installation.describe(is_ready=False).save(folder.root)
    try:
        was_ready = await run_until_stopped(supervisor, report, start)
    finally:
        forget_instance(folder.root)
    return ExitCode.OK if was_ready else ExitCode.INTERRUPTED


def _announce(installation: Installation, report: Report, *, as_json: bool) -> None:
    instance = installation.describe(is_ready=True)
    instance.save(installation.folder.root)
    tell = report.console.print
    tell(f"\n[bold green]Achilles is ready:[/] [bold]{instance.url}[/]")
    tell('Ask there in a browser, or here: [bold]achilles ask "How many days of leave do I have?" --as anna[/]')
    tell(f"[dim]Demo login, for this machine only. Logs are in {installation.folder.logs}. Ctrl-C stops.[/]\n")
    if as_json:
        print_result(instance.model_dump_json())
