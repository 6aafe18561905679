"""Children under the supervisor, in a process of its own as `achilles up` is."""

import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from shared.embedded.ports import PortBook
from shared.embedded.process_tree import still_running

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_FOLDER = Path(__file__).resolve().parent
_PROJECT = _FOLDER.parents[1]
_DEADLINE_SECONDS = 60.0


class TinyInstallation:
    """Three tiny services under a supervisor."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        book = PortBook(folder / "ports.json")
        self.ports = {name: book.choose(name) for name in names}
        self._output = (folder / "output").open("w+")
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(_FOLDER / "tiny_installation.py"),
                str(folder),
                *(f"{name}:{port}" for name, port in self.ports.items()),
            ],
            cwd=_PROJECT,
            env={"PYTHONPATH": str(_PROJECT), "PATH": "/usr/bin:/bin"},
            stderr=self._output,
        )

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.output, lambda: f"{text!r} in:\n{self.output}")

    def crash(self, name: str) -> None:
        with suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{self.ports[name]}/crash", timeout=5)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._output.close()


def wait_until(is_so: Callable[[], bool], what: Callable[[], str]) -> None:
    end = monotonic() + _DEADLINE_SECONDS
    while not is_so():
        if monotonic() > end:
            pytest.fail(f"waited in vain for {what()}")
        sleep(0.02)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[TinyInstallation]:
    running = TinyInstallation(tmp_path, "first", "second", "third")
    try:
        running.wait_for("all ready")
        yield running
    finally:
        running.close()


def test_each_part_is_told_in_order_with_its_time(installation: TinyInstallation) -> None:
    told = [line.split()[1] for line in installation.output.splitlines() if " ready " in line and line.endswith(" s")]
    assert told == ["first", "second", "third"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_signal_ends_all_in_reverse_and_leaves_nothing(
    installation: TinyInstallation, number: signal.Signals
) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests themselves run with this signal ignored")
    children = installation.children()
    assert len(children) == 3
    installation.process.send_signal(number)
    assert installation.process.wait(20) == 0
    assert not still_running(children)
    assert (installation.folder / "ended").read_text().split() == ["third", "second", "first"]


def test_a_stop_during_start_up_leaves_nothing(tmp_path: Path) -> None:
    installation = TinyInstallation(tmp_path, "first", "stuck", "third")
    try:
        wait_until(lambda: len(installation.children()) == 2, lambda: "two children")
        installation.wait_for("first ready")
        children = installation.children()
        installation.process.send_signal(signal.SIGTERM)
        assert installation.process.wait(20) == 0
        assert not still_running(children)
        assert "all stopped" in installation.output
    finally:
        installation.close()


def test_a_second_ctrl_c_kills_what_does_not_want_to_end(installation: TinyInstallation) -> None:
    children = installation.children()
    for child in children:
        child.suspend()
    installation.process.send_signal(signal.SIGINT)
    installation.wait_for("stopping")
    installation.process.send_signal(signal.SIGINT)
    assert installation.process.wait(20) == 0
    assert not still_running(children)


def test_a_crashed_child_is_started_again_and_its_last_words_are_shown(installation: TinyInstallation) -> None:
    before = {child.pid for child in installation.children()}
    installation.crash("second")
    installation.wait_for("second is back")
    assert "the disk is full" in installation.output
    assert "second ended with exit code 3" in installation.output
    assert len({child.pid for child in installation.children()} & before) == 2


def test_a_killed_child_is_started_again(installation: TinyInstallation) -> None:
    installation.children()[0].kill()
    installation.wait_for("first ended with signal SIGKILL")
    installation.wait_for("first is back")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the children of a killed process by itself")
def test_killed_supervisor_leaves_no_orphan(installation: TinyInstallation) -> None:
    children = installation.children()
    installation.process.kill()
    wait_until(lambda: not still_running(children), lambda: f"the end of {children}")
