"""The pure parts of the command line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.errors import UsageError
from services.achilles_cli.instance import PartAddress, RunningInstance, find_running_instance
from services.achilles_cli.supervisor.backoff import Backoff
from services.achilles_cli.urls import without_password
from shared.embedded.data_lock import DataFolderLock

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def make_instance(*, url: str = "http://127.0.0.1:8000") -> RunningInstance:
    parts = (PartAddress(name="nats", url="nats://127.0.0.1:4222"),)
    return RunningInstance(pid=1, started_at=datetime(2026, 1, 1, tzinfo=UTC), url=url, is_ready=True, parts=parts)


def test_pauses_grow_to_half_a_minute_and_start_over_after_a_stable_run() -> None:
    backoff = Backoff()
    assert [backoff.next_pause(ran_for=0.1) for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert backoff.next_pause(ran_for=120) == 1
    assert backoff.next_pause(ran_for=0.1) == 2


def test_without_variables_everything_is_embedded() -> None:
    configuration = Configuration.from_environment({"ACHILLES_NATS_URL": ""})
    assert configuration == Configuration()
    assert configuration.port == 8000


@pytest.mark.parametrize("text", ["0", "65536", "eight", "-1"])
def test_a_wrong_port_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=f"ACHILLES_PORT={text}"):
        Configuration.from_environment({"ACHILLES_PORT": text})


@pytest.mark.req("AUTH-4")
@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.7", "::", "chat.example"])
def test_an_address_other_than_loopback_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="loopback"):
        Configuration.from_environment({"ACHILLES_HOST": host}).require_loopback()


def test_loopback_is_accepted() -> None:
    for host in ("127.0.0.1", "localhost"):
        Configuration.from_environment({"ACHILLES_HOST": host}).require_loopback()


def test_configured_passwords_are_not_shown() -> None:
    names = ("DATABASE_URL", "NATS_URL", "REDIS_URL", "KNOWLEDGE_TOKEN", "KNOWLEDGE_DATABASE_URL")
    configuration = Configuration.from_environment({f"ACHILLES_{name}": "x://u:hush@h/d" for name in names})
    assert configuration.nats_url == "x://u:hush@h/d"
    assert "hush" not in repr(configuration)


def test_shown_urls_have_no_user_password_or_query() -> None:
    assert without_password("postgresql://u:p%40@h:5432/d?password=x#y") == "postgresql://h:5432/d"
    assert without_password("redis://:p@h:6379/0") == "redis://h:6379/0"
    assert without_password("http://h") == "http://h"


def test_the_instance_is_found_while_its_process_holds_the_folder(tmp_path: Path) -> None:
    instance = make_instance()
    with DataFolderLock(tmp_path):
        assert find_running_instance(tmp_path) is None
        instance.save(tmp_path)
        assert find_running_instance(tmp_path) == instance
        assert (tmp_path / "run.json").stat().st_mode & 0o077 == 0
    assert find_running_instance(tmp_path) is None
