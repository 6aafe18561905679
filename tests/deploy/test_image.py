"""The image: built from the lock, without a user who may do everything."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.deploy_files import DEPLOY, PROJECT

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def test_the_linter_of_dockerfiles_finds_nothing() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("hadolint is in the dependency group `deploy`: uv sync --group deploy")
    found = subprocess.run([linter, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_it_is_built_from_the_lock_by_the_same_uv_as_everywhere() -> None:
    version = re.search(r"^UV_VERSION := (\S+)$", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert version
    assert f"uv=={version[1]}" in _DOCKERFILE
    syncs = re.findall(r"uv sync (.*)", _DOCKERFILE)
    assert len(syncs) == 2
    assert all("--locked" in sync and "--no-default-groups" in sync for sync in syncs)
    assert not any("embedded" in sync.split() or "dev" in sync.split() for sync in syncs)


def test_it_runs_as_a_numeric_user_without_a_shell() -> None:
    assert "\nUSER 10001:10001\n" in _DOCKERFILE
    commands = re.findall(r"^(?:CMD|ENTRYPOINT) (.*)$", _DOCKERFILE, re.MULTILINE)
    assert commands
    assert all(command.startswith("[") for command in commands)


def test_only_what_it_is_built_from_reaches_the_builder() -> None:
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        source.removeprefix("./")
        for line in re.findall(r"^COPY (?!--from)(.*)$", _DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert "*" in lines
    assert let_in == copied
    assert all((PROJECT / name).exists() for name in let_in)
