"""`achilles doctor`: what it says of an installation that is whole, and of one that is not."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from services.achilles_cli.errors import NothingRunningError
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.main import app
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_STREAMS = {"signal_worker": "ACHILLES_SIGNAL", "trace_writer": "ACHILLES_TRACE"}


async def _canaries(database_url: str, age: timedelta) -> None:
    async with Rows.of(database_url) as rows:
        for consumer, stream in _STREAMS.items():
            await rows.run("INSERT INTO mesh.canaries_sent VALUES ($1, now())", stream)
            await rows.run(
                "INSERT INTO mesh.canaries VALUES ($1, $2, now() - $3::interval, now())", consumer, stream, age
            )


def _doctor(data_dir: Path, **environment: str) -> Result:
    return CliRunner().invoke(app, ["doctor", "--json", "--data-dir", str(data_dir)], env=environment)


def _states(outcome: Result) -> dict[str, str]:
    return {finding["name"]: finding["state"] for finding in json.loads(outcome.stdout)["findings"]}


def test_a_database_whose_canaries_arrive_is_whole(database_url: str, tmp_path: Path) -> None:
    asyncio.run(_canaries(database_url, timedelta(seconds=5)))
    outcome = _doctor(tmp_path, ACHILLES_DATABASE_URL=database_url)
    assert outcome.exit_code == ExitCode.OK
    assert set(_states(outcome).values()) == {"green"}


def test_a_consumer_that_stopped_is_red_with_what_to_do(database_url: str, tmp_path: Path) -> None:
    asyncio.run(_canaries(database_url, timedelta(minutes=5)))
    outcome = _doctor(tmp_path, ACHILLES_DATABASE_URL=database_url)
    assert outcome.exit_code == ExitCode.INCOMPLETE
    assert _states(outcome)["consumer:trace_writer"] == "red"
    assert "5 min" in outcome.stdout


def test_a_schema_that_is_missing_is_said_so(fresh_database_url: str, tmp_path: Path) -> None:
    outcome = _doctor(tmp_path, ACHILLES_DATABASE_URL=fresh_database_url)
    assert outcome.exit_code == ExitCode.INCOMPLETE
    assert "achilles migrate" in outcome.stdout


def test_servers_that_are_away_are_red_and_no_password_is_shown(tmp_path: Path) -> None:
    outcome = _doctor(tmp_path, ACHILLES_DATABASE_URL="postgresql://u:hush@127.0.0.1:1/d")
    assert outcome.exit_code == ExitCode.INCOMPLETE
    assert _states(outcome) == {"postgres": "red", "loop": "red"}
    assert "hush" not in outcome.stdout


def test_nothing_running_is_an_error_of_its_own(tmp_path: Path) -> None:
    outcome = _doctor(tmp_path)
    assert isinstance(outcome.exception, NothingRunningError)
