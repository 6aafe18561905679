"""A child that outlived its supervisor: possible only where the kernel has no death signal."""

from pathlib import Path

import psutil
from pydantic import BaseModel, ValidationError

from shared.embedded.private_files import write_private

_CLOCK_TOLERANCE_SECONDS = 2.0
_END_WITHIN_SECONDS = 5.0


class _PidNote(BaseModel):
    """The start time tells the noted process from a later one that was given the same id."""

    pid: int
    started_at: float


def note_pid(path: Path, pid: int) -> None:
    try:
        note = _PidNote(pid=pid, started_at=psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return
    write_private(path, note.model_dump_json())


def end_leftover(path: Path) -> None:
    """End the noted process and its descendants if it is still the same one."""
    try:
        note = _PidNote.model_validate_json(path.read_bytes())
        process = psutil.Process(note.pid)
        if abs(process.create_time() - note.started_at) > _CLOCK_TOLERANCE_SECONDS:
            return
        family = [process, *process.children(recursive=True)]
    except (FileNotFoundError, ValidationError, psutil.NoSuchProcess):
        return
    for member in family:
        member.kill()
    psutil.wait_procs(family, timeout=_END_WITHIN_SECONDS)
