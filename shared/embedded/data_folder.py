"""Where an embedded installation keeps its files."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from platformdirs import user_data_path

from shared.embedded.ports import PortBook
from shared.embedded.secrets_file import SecretsFile
from shared.embedded.unprivileged import RunAs, choose_run_as, require_reachable

DATA_FOLDER_VARIABLE = "ACHILLES_DATA_DIR"


def default_data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """ACHILLES_DATA_DIR, else /var/lib/achilles for root, else the user's own data folder of this system."""
    named = environment.get(DATA_FOLDER_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    return Path("/var/lib/achilles") if os.geteuid() == 0 else user_data_path("achilles")


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The layout. The folder itself, the logs, secrets and configuration belong to the starting user; each server's
    own folder belongs to `run_as`, so that a server taken over cannot replace a file that we later trust."""

    root: Path
    run_as: RunAs | None = None

    @classmethod
    def prepared(cls, root: Path) -> Self:
        """The folder at `root`, created if missing, for the user that servers run as here."""
        folder = cls(root.absolute(), choose_run_as())
        folder.prepare()
        return folder

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def runtime(self) -> Path:
        return self.root / "runtime"

    @property
    def pids(self) -> Path:
        return self.root / "pids"

    @property
    def secrets(self) -> SecretsFile:
        return SecretsFile(self.root / "secrets.json")

    @property
    def ports(self) -> PortBook:
        return PortBook(self.root / "ports.json")

    def prepare(self) -> None:
        """Create the layout. Raises DataFolderUnreachableError when `run_as` cannot enter it."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.logs, self.pids):
            folder.mkdir(exist_ok=True, mode=0o700)
        for folder in (self.config, self.runtime):
            folder.mkdir(exist_ok=True, mode=0o711)
        if self.run_as is not None:
            self.root.chmod(0o711)
            require_reachable(self.run_as, self.root)

    def server_folder(self, name: str) -> Path:
        """A folder of mode 700 that belongs to the user the server runs as."""
        folder = self.root / name
        folder.mkdir(exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        self.hand_over(folder)
        return folder

    def empty_workshop(self, name: str) -> Path:
        """A fresh server folder; what an interrupted attempt left in it is removed."""
        shutil.rmtree(self.root / name, ignore_errors=True)
        return self.server_folder(name)

    def hand_over(self, folder: Path) -> None:
        """Give `folder` with everything in it to `run_as`, if it is not theirs yet."""
        if self.run_as is None or folder.stat().st_uid == self.run_as.uid:
            return
        for path in _walk(folder):
            os.chown(path, *self.run_as.owner, follow_symlinks=False)


def _walk(folder: Path) -> Iterator[Path]:
    # The top comes last: while it is not handed over, an interrupted walk is repeated at the next start.
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent) / name
    yield folder
