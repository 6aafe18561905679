"""The log file of a child: kept from run to run, bounded in size."""

import os
from collections import deque
from pathlib import Path
from typing import BinaryIO

_MAX_BYTES = 8 * 1024**2
_TAIL_BYTES = 64 * 1024
_MAX_LINE = 600


def open_log(path: Path) -> BinaryIO:
    """Open for appending, mode 600. A file over 8 MiB becomes `NAME.log.1` first, replacing an earlier one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > _MAX_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def read_tail(path: Path, lines: int) -> str:
    """The last lines, long ones shortened in the middle; empty when there is no log."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(_shortened(line) for line in deque(text.splitlines(), maxlen=lines))


def _shortened(line: str) -> str:
    """A structured log has a whole traceback in one line: its ends say what and where."""
    return line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE // 3]} … {line[-_MAX_LINE * 2 // 3 :]}"
