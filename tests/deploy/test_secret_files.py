"""Secrets come in files, as containers are given them, and what is wrong with one is said without its content."""

from pathlib import Path

import pytest

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.errors import UsageError
from services.signal_worker.settings import SignalWorkerSettings
from shared.secret_files import SecretFileError, with_secret_files
from shared.settings import settings_or_exit

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_DATABASE = "postgresql://achilles:secret-word@db:5432/achilles"


@pytest.fixture
def database_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "database_url"
    path.write_text(f"{_DATABASE}\n")
    monkeypatch.delenv("ACHILLES_DATABASE_URL", raising=False)
    monkeypatch.setenv("ACHILLES_DATABASE_URL_FILE", str(path))
    monkeypatch.setenv("ACHILLES_NATS_URL", "nats://signal_worker:word@bus:4222")
    return path


@pytest.mark.usefixtures("database_file")
def test_a_service_reads_its_secret_from_the_file() -> None:
    assert SignalWorkerSettings().dsn == _DATABASE


@pytest.mark.usefixtures("database_file")
def test_the_command_reads_its_secret_from_the_file() -> None:
    assert Configuration.from_environment().database_url == _DATABASE


def test_a_value_beside_its_file_is_refused(database_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACHILLES_DATABASE_URL", "postgresql://other")
    with pytest.raises(SecretFileError, match="ACHILLES_DATABASE_URL and ACHILLES_DATABASE_URL_FILE are both set"):
        SignalWorkerSettings()
    assert database_file.exists()


def test_an_empty_value_beside_its_file_does_not_count(database_file: Path) -> None:
    found = with_secret_files({"ACHILLES_DATABASE_URL": "", "ACHILLES_DATABASE_URL_FILE": str(database_file)})
    assert found["ACHILLES_DATABASE_URL"] == _DATABASE


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"\n", "is empty"), (b"\xff\xfe", "not UTF-8"), (b"x" * 70_000, "too large")],
    ids=["empty", "encoding", "large"],
)
def test_a_file_that_holds_no_secret_is_named_and_not_quoted(
    database_file: Path, content: bytes, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    database_file.write_bytes(content)
    with pytest.raises(SystemExit) as stopped:
        settings_or_exit(SignalWorkerSettings)
    told = capsys.readouterr().err
    assert stopped.value.code == 2
    assert "ACHILLES_DATABASE_URL_FILE" in told
    assert str(database_file) in told
    assert reason in told
    assert "xxx" not in told


def test_a_missing_file_stops_the_command_with_its_name(database_file: Path) -> None:
    database_file.unlink()
    with pytest.raises(UsageError, match=r"ACHILLES_DATABASE_URL_FILE names .* cannot be read \(FileNotFoundError\)"):
        Configuration.from_environment()


def test_a_missing_setting_is_told_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("ACHILLES_DATABASE_URL", "ACHILLES_DATABASE_URL_FILE", "ACHILLES_NATS_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(SystemExit):
        settings_or_exit(SignalWorkerSettings)
    assert set(capsys.readouterr().err.splitlines()) == {
        "ACHILLES_DATABASE_URL: Field required",
        "ACHILLES_NATS_URL: Field required",
    }


def test_other_variables_that_end_alike_are_left_alone() -> None:
    assert with_secret_files({"POSTGRES_PASSWORD_FILE": "/nowhere"}) == {"POSTGRES_PASSWORD_FILE": "/nowhere"}
