"""Run tiny services under the supervisor until stopped.

`python tiny_installation.py FOLDER NAME:PORT…`; a name that starts with `stuck` never becomes ready.
"""

import asyncio
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

from services.achilles_cli.console import make_console
from services.achilles_cli.health import check_ready
from services.achilles_cli.supervisor.child import ChildSpec, ServiceChild
from services.achilles_cli.supervisor.report import Report
from services.achilles_cli.supervisor.run import run_until_stopped
from services.achilles_cli.supervisor.supervisor import Supervisor
from shared.embedded.errors import ProbeFailedError
from shared.embedded.processes import ProcessSpec

TINY_SERVICE = Path(__file__).with_name("tiny_service.py")


async def never() -> None:
    raise ProbeFailedError("stuck")


def make_tiny_child(folder: Path, name: str, port: int) -> ServiceChild:
    process = ProcessSpec(
        name=name,
        command=(sys.executable, str(TINY_SERVICE), name, str(port), str(folder / "ended")),
        log_file=folder / "logs" / f"{name}.log",
    )
    probe = never if name.startswith("stuck") else partial(check_ready, f"http://127.0.0.1:{port}")
    return ServiceChild(ChildSpec(process, probe, timedelta(seconds=60)))


async def main(folder: Path, names: list[str]) -> None:
    report = Report(make_console())
    supervisor = Supervisor(report, pauses=(0.1, 0.2))

    async def start() -> None:
        for name, _, port in (text.partition(":") for text in names):
            await supervisor.start(make_tiny_child(folder, name, int(port)))
        report.note("all ready")

    await run_until_stopped(supervisor, report, start)
    report.note("all stopped")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
