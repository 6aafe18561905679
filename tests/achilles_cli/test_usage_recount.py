"""`achilles usage recount`, as an operator calls it."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from services.achilles_cli.errors import CommandError, UsageError
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.main import app
from services.signal_worker.storage.usage import apply_usage
from shared.database.engine import make_engine
from tests.support.events import make_usage
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    async def use_calls() -> None:
        engine = make_engine(database_url, application_name="test")
        async with engine.begin() as connection:
            late_in_the_evening = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
            await apply_usage(connection, [make_usage(occurred_at=late_in_the_evening) for _ in range(3)])
        await engine.dispose()

    asyncio.run(use_calls())
    return {"ACHILLES_DATABASE_URL": database_url, "COLUMNS": "250"}


def _call(environment: dict[str, str], *arguments: str) -> Result:
    return CliRunner().invoke(app, ["usage", "recount", *arguments], env=environment)


def _in_database(environment: dict[str, str], statement: str) -> Any:
    async def run() -> Any:
        async with Rows.of(environment["ACHILLES_DATABASE_URL"]) as rows:
            return await rows.one(statement)

    return asyncio.run(run())


@pytest.mark.req("MESH-12")
def test_right_sums_are_told_to_be_right_and_wrong_ones_are_set_right(environment: dict[str, str]) -> None:
    right = _call(environment, "--check", "--json")
    assert (right.exit_code, json.loads(right.stdout)["agrees"]) == (ExitCode.OK, True)
    _in_database(environment, "UPDATE signals.usage_daily SET output_tokens = 1")
    wrong = _call(environment, "--check")
    assert (wrong.exit_code, "1 wrong" in wrong.stderr) == (ExitCode.INCOMPLETE, True)
    assert _call(environment).exit_code == ExitCode.OK
    assert _call(environment, "--check").exit_code == ExitCode.OK
    assert _in_database(environment, "SELECT output_tokens FROM signals.usage_daily") == 15


@pytest.mark.req("MESH-12")
def test_another_time_zone_moves_calls_to_its_days(environment: dict[str, str]) -> None:
    assert _in_database(environment, "SELECT day::text FROM signals.usage_daily") == "2026-11-29"
    told = json.loads(_call(environment, "--time-zone", "Europe/Berlin", "--json").stdout)
    assert (told["time_zone"], told["calls"]) == ("Europe/Berlin", 3)
    assert _in_database(environment, "SELECT day::text FROM signals.usage_daily") == "2026-11-30"
    assert _in_database(environment, "SELECT name FROM signals.business_time_zone") == "Europe/Berlin"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "EST5EDT4,M3.2.0", "'; DROP TABLE signals.usage; --"])
def test_a_time_zone_that_nobody_knows_changes_nothing(environment: dict[str, str], zone: str) -> None:
    refused = _call(environment, "--time-zone", zone)
    assert isinstance(refused.exception, UsageError)
    assert "Europe/Berlin" in str(refused.exception)
    assert _in_database(environment, "SELECT name FROM signals.business_time_zone") == "UTC"
    assert _call(environment, "--check").exit_code == ExitCode.OK


def test_checking_and_changing_at_once_is_refused(environment: dict[str, str]) -> None:
    assert isinstance(_call(environment, "--check", "--time-zone", "UTC").exception, UsageError)


def test_a_database_that_is_away_is_told() -> None:
    failed = _call({"ACHILLES_DATABASE_URL": "postgresql://nobody:x@127.0.0.1:9/none"}, "--check")
    assert isinstance(failed.exception, CommandError)
    assert failed.exception.code == ExitCode.FAILED
