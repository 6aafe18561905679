"""Run servers as a user without rights when we were started as root."""

import os
import pwd
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shared.embedded.errors import DataFolderUnreachableError, RunAsUnknownError

RUN_AS_VARIABLE = "ACHILLES_RUN_AS"
_DEFAULT_USER = "nobody"


@dataclass(frozen=True, slots=True)
class RunAs:
    """The user a child is started as."""

    name: str
    uid: int
    gid: int

    @property
    def owner(self) -> tuple[int, int]:
        return self.uid, self.gid


def choose_run_as(environment: Mapping[str, str] = os.environ) -> RunAs | None:
    """`None` unless we are root. Raises RunAsUnknownError for a name that is unknown or is root itself."""
    if os.geteuid() != 0:
        return None
    name = environment.get(RUN_AS_VARIABLE) or _DEFAULT_USER
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise RunAsUnknownError(f"there is no user {name!r}: set {RUN_AS_VARIABLE} to an unprivileged user") from None
    if entry.pw_uid == 0:
        raise RunAsUnknownError(f"{RUN_AS_VARIABLE}={name} is the superuser: name an unprivileged user")
    return RunAs(name, entry.pw_uid, entry.pw_gid)


def succeeds_as(run_as: RunAs, command: tuple[str, ...], folder: Path = Path("/")) -> bool:
    """Whether `command` can be started as that user in `folder` and exits with 0."""
    try:
        outcome = subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            user=run_as.uid,
            group=run_as.gid,
            extra_groups=[],
            env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return outcome.returncode == 0


def can_enter(run_as: RunAs, folder: Path) -> bool:
    return succeeds_as(run_as, ("/bin/sh", "-c", 'cd "$1"', "sh", str(folder)))


def can_run_services(run_as: RunAs, python: str, project: Path) -> bool:
    """Whether our own services can run as that user: the interpreter may live in a home folder closed to others."""
    return can_enter(run_as, project) and succeeds_as(run_as, (python, "-c", "import ssl, services, shared"), project)


def require_reachable(run_as: RunAs, folder: Path) -> None:
    """Raises DataFolderUnreachableError when a parent of `folder` is closed to the user."""
    if not can_enter(run_as, folder):
        raise DataFolderUnreachableError(
            f"user {run_as.name!r}, as whom the servers run, cannot enter {folder}: "
            "choose another data folder with --data-dir or ACHILLES_DATA_DIR, for example /var/lib/achilles"
        )
