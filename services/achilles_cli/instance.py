"""The running instance of a data folder, as other commands find it."""

from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from shared.embedded.data_lock import DataFolderLock
from shared.embedded.private_files import write_private

_FILE_NAME = "run.json"


class PartAddress(BaseModel):
    """`url` has no password. `embedded` parts are children of the instance."""

    model_config = ConfigDict(frozen=True)

    name: str
    url: str
    embedded: bool = True


class RunningInstance(BaseModel):
    """DATA/run.json, mode 600. `url` is where users ask."""

    model_config = ConfigDict(frozen=True)

    pid: int
    started_at: datetime
    url: str
    is_ready: bool
    parts: tuple[PartAddress, ...]

    def part(self, name: str) -> PartAddress | None:
        return next((part for part in self.parts if part.name == name), None)

    def save(self, data_folder: Path) -> None:
        write_private(data_folder / _FILE_NAME, self.model_dump_json(indent=2))


def forget_instance(data_folder: Path) -> None:
    (data_folder / _FILE_NAME).unlink(missing_ok=True)


def find_running_instance(data_folder: Path) -> RunningInstance | None:
    """`None` unless its process lives: a file left by a crash does not count."""
    if not DataFolderLock(data_folder).is_held():
        return None
    try:
        return RunningInstance.model_validate_json((data_folder / _FILE_NAME).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
