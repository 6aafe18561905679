"""Secrets, ports and the lock of a data folder."""

import socket
from pathlib import Path

import pytest

from shared.embedded.data_lock import DataFolderLock
from shared.embedded.errors import DataFolderInUseError, SecretsUnreadableError
from shared.embedded.ports import PortBook, find_free_port, is_port_free
from shared.embedded.postgres_files import remove_stale_pid_file
from shared.embedded.secrets_file import SecretsFile

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def mode_of(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_a_secret_stays_the_same_and_is_for_its_owner_only(tmp_path: Path) -> None:
    secrets = SecretsFile(tmp_path / "secrets.json")
    value = secrets.get_or_create("token")
    assert len(value) == 48
    assert secrets.get_or_create("token") == value
    assert secrets.get_or_create("other") != value
    assert mode_of(tmp_path / "secrets.json") == "0o600"
    assert value not in repr(secrets)


def test_a_secrets_file_open_to_others_is_tightened(tmp_path: Path) -> None:
    secrets = SecretsFile(tmp_path / "secrets.json")
    secrets.get_or_create("token")
    (tmp_path / "secrets.json").chmod(0o644)
    secrets.get("token")
    assert mode_of(tmp_path / "secrets.json") == "0o600"


def test_a_damaged_secrets_file_is_not_overwritten_nor_echoed(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    path.write_text('{"token": "abc", broken')
    with pytest.raises(SecretsUnreadableError) as fault:
        SecretsFile(path).get_or_create("token")
    assert "abc" not in str(fault.value)
    assert path.read_text() == '{"token": "abc", broken'


def test_a_port_is_kept_while_it_is_free(tmp_path: Path) -> None:
    book = PortBook(tmp_path / "ports.json")
    first = book.choose("a")
    assert book.choose("a") == first
    assert book.choose("b") != first
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first))
        taken.listen()
        assert not is_port_free(first)
        assert book.get("a") == first
        assert book.choose("a") != first


def test_ports_are_outside_the_range_clients_are_given() -> None:
    with socket.socket() as client:
        client.bind(("127.0.0.1", 0))
        ephemeral = client.getsockname()[1]
    assert find_free_port() < 30_000 <= ephemeral


def test_the_lock_has_one_holder_and_is_free_after_release(tmp_path: Path) -> None:
    lock = DataFolderLock(tmp_path)
    assert not lock.is_held()
    with lock:
        assert lock.is_held()
        assert DataFolderLock(tmp_path).is_held()
        with pytest.raises(DataFolderInUseError):
            DataFolderLock(tmp_path).acquire()
    assert not DataFolderLock(tmp_path).is_held()


def test_a_pid_file_of_a_process_that_is_gone_is_removed(tmp_path: Path) -> None:
    (tmp_path / "postmaster.pid").write_text("999999999\n/somewhere\n")
    remove_stale_pid_file(tmp_path)
    assert not (tmp_path / "postmaster.pid").exists()
