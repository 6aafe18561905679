"""The whole product under `achilles up`, as a person and other commands see it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest
from pydantic import TypeAdapter

from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.instance import RunningInstance
from shared.embedded.ports import find_free_port
from shared.embedded.process_tree import still_running
from shared.messaging.bus_users import BUS_USERS

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_PROJECT = Path(__file__).resolve().parents[2]
_READY_SECONDS = 180.0


class Product:
    """`achilles up` in a process of its own, on a new data folder."""

    def __init__(self, *options: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="achilles-up-"))
        self.folder.chmod(0o711)
        self.data_dir = self.folder / "data"
        self._streams = [(self.folder / name).open("w") for name in ("stdout", "stderr")]
        self.process = subprocess.Popen(
            self.command("up", *options),
            cwd=_PROJECT,
            env=clean_environment() | {"ACHILLES_PORT": str(find_free_port())},
            stdout=self._streams[0],
            stderr=self._streams[1],
        )

    def command(self, name: str, *options: str) -> list[str]:
        program = [sys.executable, "-m", "services.achilles_cli.main"]
        return [*program, name, *options, "--data-dir", str(self.data_dir)]

    def call(self, name: str, *options: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(name, *options),
            cwd=_PROJECT,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @property
    def stdout(self) -> str:
        return (self.folder / "stdout").read_text()

    @property
    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()

    def wait_for(self, text: str) -> None:
        end = monotonic() + _READY_SECONDS
        while text not in self.stdout + self.stderr:
            if monotonic() > end or self.process.poll() is not None:
                pytest.fail(f"waited in vain for {text!r}:\n{self.stderr}")
            sleep(0.05)

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def passwords(self) -> list[str]:
        return list(TypeAdapter(dict[str, str]).validate_json((self.data_dir / "secrets.json").read_bytes()).values())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        for stream in self._streams:
            stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ACHILLES_")}


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    running_product = Product("--no-demo", "--json")
    try:
        running_product.wait_for("is ready")
        yield running_product
    finally:
        running_product.close()


def test_up_prints_one_line_of_json_and_says_how_to_ask(product: Product) -> None:
    instance = RunningInstance.model_validate_json(product.stdout)
    assert product.stdout.count("\n") == 1
    assert instance.is_ready
    assert instance.pid == product.process.pid
    assert instance.url in product.stderr
    assert "achilles ask" in product.stderr


def test_status_reaches_every_part(product: Product) -> None:
    outcome = product.call("status", "--json")
    answer = json.loads(outcome.stdout)
    assert outcome.returncode == ExitCode.OK, outcome.stdout
    assert [part["name"] for part in answer["parts"]] == [
        "postgres",
        "nats",
        "valkey",
        "knowledge_store",
        "signal_worker",
        "trace_writer",
        "chat_api",
    ]


def test_no_password_is_shown_on_a_command_line_in_a_log_or_to_others(product: Product) -> None:
    shown = [
        product.stdout,
        product.stderr,
        product.call("status").stdout,
        (product.data_dir / "run.json").read_text(),
        *(log.read_text() for log in (product.data_dir / "logs").iterdir()),
        *(part for process in product.family() for part in process.cmdline()),
    ]
    assert len(product.passwords()) == 3 + len(BUS_USERS)
    assert not [text for text in shown if any(password in text for password in product.passwords())]
    assert (product.data_dir / "run.json").stat().st_mode & 0o077 == 0


def test_a_second_up_names_the_first_and_leaves_it_alone(product: Product) -> None:
    outcome = product.call("up", "--port", str(find_free_port()))
    assert outcome.returncode == ExitCode.ALREADY_RUNNING
    assert RunningInstance.model_validate_json(product.stdout).url in outcome.stderr
    assert product.call("status").returncode == ExitCode.OK


def test_ingest_reads_what_it_can_and_lists_the_rest(product: Product) -> None:
    documents = product.folder / "documents"
    documents.mkdir()
    (documents / "parking.md").write_text("# Parking\n\nParking is free on Sundays.\n")
    assert product.call("ingest", str(documents)).returncode == ExitCode.OK

    (documents / "broken.pdf").write_bytes(b"%PDF-1.7 this is no document")
    outcome = product.call("ingest", str(documents), "--json")
    assert outcome.returncode == ExitCode.INCOMPLETE
    assert "broken.pdf" in outcome.stderr
    report = json.loads(outcome.stdout)
    assert report["unchanged"] == 1
    assert [failure["path"] for failure in report["failures"]] == ["broken.pdf"]


def test_migrate_on_the_running_instance_changes_nothing(product: Product) -> None:
    assert product.call("migrate").returncode == ExitCode.OK


def test_a_killed_database_is_started_again_and_everything_recovers(product: Product) -> None:
    postgres = next(p for p in psutil.Process(product.process.pid).children() if p.name().startswith("postgres"))
    postgres.kill()
    product.wait_for("postgres is back")
    end = monotonic() + 60
    while (outcome := product.call("status")).returncode != ExitCode.OK:
        assert monotonic() < end, outcome.stdout


def test_term_ends_everything_and_a_stopped_database_can_be_migrated(product: Product) -> None:
    # Last: it ends the product that the tests above share.
    children = product.family()
    assert len(children) > 7
    product.process.terminate()
    assert product.process.wait(40) == ExitCode.OK
    assert not still_running(children)
    assert not (product.data_dir / "run.json").exists()
    assert product.call("status").returncode == ExitCode.NOT_RUNNING
    migrated = product.call("migrate")
    assert migrated.returncode == ExitCode.OK, migrated.stderr
    assert "postgres ready" in migrated.stderr


def test_ctrl_c_during_start_up_leaves_nothing() -> None:
    product = Product("--no-demo")
    try:
        product.wait_for("postgres ready")
        children = product.family()
        product.process.send_signal(signal.SIGINT)
        assert product.process.wait(40) == ExitCode.INTERRUPTED
        assert not still_running(children)
        assert "Traceback" not in product.stderr
    finally:
        product.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends the children of a killed process by itself")
def test_killed_up_leaves_no_orphan_and_the_next_one_starts_on_the_same_data() -> None:
    product = Product("--no-demo")
    try:
        product.wait_for("schema is current")
        children = product.family()
        product.process.kill()
        product.process.wait()
        end = monotonic() + 20
        while still_running(children) and monotonic() < end:
            sleep(0.05)
        assert not still_running(children)
        assert product.call("status").returncode == ExitCode.NOT_RUNNING
        assert product.call("migrate").returncode == ExitCode.OK
    finally:
        product.close()
