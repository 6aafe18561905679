"""Files that only their owner may read, replaced in one step."""

import os
import tempfile
from pathlib import Path


def write_private(path: Path, text: str, owner: tuple[int, int] | None = None) -> None:
    """Write `text` with mode 600 under a temporary name and move it over `path`; `owner` is (uid, gid)."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            if owner is not None:
                os.fchown(file.fileno(), *owner)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def tighten(path: Path) -> None:
    """Take every right of group and others from an existing file."""
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
