"""Folders that the unprivileged user of the embedded servers may enter."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder_for_servers() -> Iterator[Path]:
    """Removed at the end. Not one of pytest's own: it closes their parents to others, again with each new worker."""
    folder = Path(tempfile.mkdtemp(prefix="achilles-folder-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
