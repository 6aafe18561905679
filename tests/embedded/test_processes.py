"""A child process: its readiness, its log and its end."""

import signal
import sys
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from shared.embedded.errors import ProbeFailedError, ProcessFailedError
from shared.embedded.process_tree import still_running, wait_gone
from shared.embedded.processes import ManagedProcess, ProcessSpec

pytestmark = [pytest.mark.integration, pytest.mark.p1]


def make_process(folder: Path, code: str, **environment: str) -> ManagedProcess:
    return ManagedProcess(
        ProcessSpec(
            name="child",
            command=(sys.executable, "-c", code),
            log_file=folder / "logs" / "child.log",
            environment=environment,
            pid_file=folder / "child.pid",
        )
    )


async def ready_when_written(process: ManagedProcess, word: str) -> None:
    async def probe() -> None:
        if word not in process.log_tail():
            raise ProbeFailedError(f"{word} not written yet")

    await process.wait_ready(probe, timedelta(seconds=30))


async def never_ready() -> None:
    raise ProbeFailedError("the door is closed")


async def test_an_early_end_is_told_with_the_end_of_the_log(tmp_path: Path) -> None:
    process = make_process(tmp_path, "print('no such table'); raise SystemExit(3)")
    process.start()
    with pytest.raises(ProcessFailedError, match="ended with exit code 3") as fault:
        await process.wait_ready(never_ready, timedelta(seconds=30))
    assert fault.value.log_tail == "no such table"


async def test_the_deadline_names_what_was_missing(tmp_path: Path) -> None:
    process = make_process(tmp_path, "import time; time.sleep(60)")
    process.start()
    with pytest.raises(ProcessFailedError, match="the door is closed"):
        await process.wait_ready(never_ready, timedelta(seconds=0.3))
    await process.kill()


async def test_stop_lets_the_child_end_by_itself(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('tidied up', flush=True), sys.exit(0)))\n"
        "print('started', flush=True)\n"
        "time.sleep(60)"
    )
    process = make_process(tmp_path, code)
    process.start()
    await ready_when_written(process, "started")
    await process.stop()
    assert process.exit_code == 0
    assert "tidied up" in process.log_tail()


async def test_a_stubborn_child_ends_after_the_grace_with_all_its_descendants(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        "print('started', flush=True)\n"
        "time.sleep(60)"
    )
    process = make_process(tmp_path, code)
    process.start()
    await ready_when_written(process, "started")
    assert process.pid is not None
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    assert len(family) == 2
    await process.stop(timedelta(seconds=0.2))
    assert process.exit_code == -signal.SIGKILL
    assert not still_running(family)


async def test_the_child_gets_only_the_environment_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACHILLES_MODEL_KEY", "do-not-inherit")
    process = make_process(tmp_path, "import os; print(sorted(os.environ))", GREETING="hello")
    process.start()
    await process.wait()
    assert "GREETING" in process.log_tail()
    assert "ACHILLES_MODEL_KEY" not in process.log_tail()


async def test_a_long_log_is_put_aside_at_the_next_start(tmp_path: Path) -> None:
    process = make_process(tmp_path, "print('second run')")
    log = process.spec.log_file
    log.parent.mkdir()
    log.write_bytes(b"x" * (9 * 1024**2))
    process.start()
    await process.wait()
    assert log.read_text() == "second run\n"
    assert log.with_name("child.log.1").stat().st_size == 9 * 1024**2
    assert log.stat().st_mode & 0o077 == 0


async def test_a_child_left_by_a_killed_supervisor_is_ended_before_the_next_one_starts(tmp_path: Path) -> None:
    first = make_process(tmp_path, "import time; time.sleep(60)")
    first.start()
    assert first.pid is not None
    left = psutil.Process(first.pid)

    second = make_process(tmp_path, "import time; time.sleep(60)")
    second.start()
    await wait_gone([left])
    assert not first.is_running
    assert second.is_running
    await second.kill()


async def test_a_program_that_does_not_exist_is_told(tmp_path: Path) -> None:
    process = ManagedProcess(ProcessSpec("ghost", ("/nonexistent/program",), tmp_path / "ghost.log"))
    with pytest.raises(ProcessFailedError, match="ghost could not be started"):
        process.start()
