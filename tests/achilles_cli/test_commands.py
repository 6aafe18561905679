"""`achilles` as a person calls it: one clear line and the documented exit status."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.instance import RunningInstance
from services.achilles_cli.main import app
from shared.embedded.data_lock import DataFolderLock
from shared.embedded.ports import find_free_port
from tests.support.folders import folder_for_servers

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_PROJECT = Path(__file__).resolve().parents[2]


def run_achilles(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ACHILLES_")}
    return subprocess.run(
        [sys.executable, "-m", "services.achilles_cli.main", *arguments],
        cwd=_PROJECT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def assert_one_line(outcome: "subprocess.CompletedProcess[str]", code: ExitCode, *words: str) -> None:
    assert outcome.returncode == code, outcome.stderr
    assert outcome.stdout == ""
    assert outcome.stderr.count("\n") == 1
    assert outcome.stderr.startswith("error: ")
    for word in words:
        assert word in outcome.stderr


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with folder_for_servers() as folder:
        yield folder / "data"


def test_status_with_nothing_running(data_dir: Path) -> None:
    outcome = run_achilles("status", "--data-dir", str(data_dir))
    assert_one_line(outcome, ExitCode.NOT_RUNNING, str(data_dir), "achilles up")


def test_status_of_configured_servers_that_are_away(data_dir: Path) -> None:
    port = find_free_port()
    outcome = run_achilles(
        "status",
        "--json",
        "--data-dir",
        str(data_dir),
        ACHILLES_DATABASE_URL=f"postgresql://u:hush@127.0.0.1:{port}/d",
        ACHILLES_NATS_URL=f"nats://u:hush@127.0.0.1:{port}",
        ACHILLES_REDIS_URL=f"redis://:hush@127.0.0.1:{port}/0",
        ACHILLES_KNOWLEDGE_URL=f"http://127.0.0.1:{port}",
        ACHILLES_PORT=str(port),
    )
    assert outcome.returncode == ExitCode.INCOMPLETE
    answer = json.loads(outcome.stdout)
    assert {part["name"] for part in answer["parts"]} == {"postgres", "nats", "valkey", "knowledge_store", "chat_api"}
    assert all("connection refused" in part["reason"] for part in answer["parts"])
    assert not answer["is_reachable"]
    assert "hush" not in outcome.stdout + outcome.stderr


def test_ingest_of_no_folder(data_dir: Path, tmp_path: Path) -> None:
    outcome = run_achilles("ingest", str(tmp_path / "nowhere"), "--data-dir", str(data_dir))
    assert_one_line(outcome, ExitCode.USAGE, "nowhere")


def test_ingest_with_nothing_running(data_dir: Path, tmp_path: Path) -> None:
    outcome = run_achilles("ingest", str(tmp_path), "--data-dir", str(data_dir))
    assert_one_line(outcome, ExitCode.NOT_RUNNING, "achilles up")


def test_ingest_into_somebody_elses_store(data_dir: Path, tmp_path: Path) -> None:
    outcome = run_achilles(
        "ingest",
        str(tmp_path),
        "--data-dir",
        str(data_dir),
        ACHILLES_KNOWLEDGE_URL="https://store.example",
        ACHILLES_DATABASE_URL="postgresql://u:hush@127.0.0.1:1/d",
    )
    assert_one_line(outcome, ExitCode.USAGE, "ACHILLES_KNOWLEDGE_URL")


def test_migrate_without_a_database(data_dir: Path) -> None:
    assert_one_line(run_achilles("migrate", "--data-dir", str(data_dir)), ExitCode.NOT_RUNNING, "achilles up")


def test_up_refuses_an_address_that_others_can_reach(data_dir: Path) -> None:
    outcome = run_achilles("up", "--data-dir", str(data_dir), ACHILLES_HOST="0.0.0.0")
    assert_one_line(outcome, ExitCode.USAGE, "ACHILLES_HOST=0.0.0.0", "loopback")
    assert not data_dir.exists()


def test_up_names_the_port_that_is_taken(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        outcome = run_achilles("up", "--data-dir", str(data_dir), ACHILLES_PORT=port)
    assert_one_line(outcome, ExitCode.PORT_IN_USE, f"port {port}", str(os.getpid()), "ACHILLES_PORT", "--port")


def test_a_second_up_names_the_first(data_dir: Path) -> None:
    data_dir.mkdir()
    now = datetime.now(UTC)
    with DataFolderLock(data_dir):
        url = "http://127.0.0.1:8765"
        RunningInstance(pid=os.getpid(), started_at=now, url=url, is_ready=True, parts=()).save(data_dir)
        outcome = run_achilles("up", "--data-dir", str(data_dir))
    assert_one_line(outcome, ExitCode.ALREADY_RUNNING, url, str(os.getpid()))


def test_up_names_the_variable_of_a_server_that_is_away(data_dir: Path) -> None:
    port = find_free_port()
    outcome = run_achilles(
        "up",
        "--data-dir",
        str(data_dir),
        ACHILLES_PORT=str(find_free_port()),
        ACHILLES_DATABASE_URL=f"postgresql://u:hush@127.0.0.1:{port}/d",
    )
    assert_one_line(outcome, ExitCode.FAILED, "ACHILLES_DATABASE_URL", "connection refused")
    assert "hush" not in outcome.stderr


def test_debug_shows_where_a_fault_comes_from(data_dir: Path) -> None:
    outcome = run_achilles("status", "--data-dir", str(data_dir), ACHILLES_DEBUG="1")
    assert outcome.returncode != 0
    assert "Traceback" in outcome.stderr


@pytest.mark.parametrize("command", ["up", "ask", "ingest", "status", "doctor", "migrate"])
def test_help_documents_the_exit_status(command: str) -> None:
    outcome = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
    assert outcome.exit_code == ExitCode.OK
    assert "Exit status" in outcome.stdout
    assert "4 already running" in outcome.stdout
