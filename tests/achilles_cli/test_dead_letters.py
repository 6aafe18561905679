"""`achilles dead-letters`, as an operator calls it."""

import asyncio
import json
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

from services.achilles_cli.errors import UsageError
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.main import app
from shared.database.engine import make_engine
from shared.messaging.delivery import Delivery, DeliveryService
from shared.messaging.envelope import body_of, headers_of
from tests.support.events import make_click
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest.fixture
def letter_id(database_url: str) -> str:
    """One event that could not be applied."""

    async def bury() -> str:
        engine = make_engine(database_url, application_name="test")
        event = make_click()
        delivery = Delivery(event.subject, body_of(event), headers_of(event, source="test"))
        await DeliveryService(engine, "signal_worker", {}).deliver([delivery])
        await engine.dispose()
        async with Rows.of(database_url) as rows:
            return str(await rows.one("SELECT id FROM mesh.dead_letters"))

    return asyncio.run(bury())


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    return {"ACHILLES_DATABASE_URL": database_url, "COLUMNS": "250"}


def _call(environment: dict[str, str], *arguments: str) -> Result:
    return CliRunner().invoke(app, ["dead-letters", *arguments], env=environment)


def test_letters_are_listed_with_their_reason_and_shown_with_their_event(
    environment: dict[str, str], letter_id: str
) -> None:
    listed = json.loads(_call(environment, "list", "--json").stdout)
    assert [(one["id"], one["reason_class"]) for one in listed] == [(letter_id, "unknown_subject")]
    assert "payload" not in listed[0]
    assert letter_id in _call(environment, "list").stdout
    shown = json.loads(_call(environment, "show", letter_id).stdout)
    assert json.loads(shown["payload"])["kind"] == "clicked"


def test_a_replay_puts_the_event_back_into_the_ledger(environment: dict[str, str], letter_id: str) -> None:
    replayed = _call(environment, "replay", letter_id, "--json")
    assert (replayed.exit_code, json.loads(replayed.stdout)["replayed"]) == (ExitCode.OK, [letter_id])
    again = _call(environment, "replay", letter_id)
    assert again.exit_code == ExitCode.INCOMPLETE
    assert json.loads(_call(environment, "list", "--json").stdout) == []


def test_discarding_asks_first(environment: dict[str, str], letter_id: str) -> None:
    refused = CliRunner().invoke(app, ["dead-letters", "discard", letter_id], env=environment, input="n\n")
    assert refused.exit_code != ExitCode.OK
    assert len(json.loads(_call(environment, "list", "--json").stdout)) == 1
    discarded = _call(environment, "discard", letter_id, "--yes", "--json")
    assert json.loads(discarded.stdout) == {"discarded": [letter_id], "missing": []}


def test_an_unknown_letter_is_a_clear_error(environment: dict[str, str], letter_id: str) -> None:
    shown = _call(environment, "show", str(uuid4()))
    assert isinstance(shown.exception, UsageError)
    assert "dead-letters list" in str(shown.exception)
    assert _call(environment, "show", "not-an-id").exit_code == ExitCode.USAGE
