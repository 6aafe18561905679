"""Folders that the unprivileged user of the embedded servers may enter."""

import tempfile
from pathlib import Path


def open_to_servers(folder: Path) -> Path:
    """The folder, after every one on its way below the system's temporary folder lets others pass."""
    top = Path(tempfile.gettempdir()).resolve()
    for one in (folder, *folder.parents):
        if one.resolve() == top or top not in one.resolve().parents:
            break
        one.chmod(one.stat().st_mode | 0o011)
    return folder
