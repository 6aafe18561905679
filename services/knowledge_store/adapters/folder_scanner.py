"""The files of a folder, each with the settings it inherits, and what could not be looked at."""

import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from services.knowledge_store.adapters.access_settings import ACCESS_FILE_NAME, parse_access_file
from services.knowledge_store.adapters.text_decoding import decode_text
from services.knowledge_store.domain.access import AccessSettings
from services.knowledge_store.domain.errors import InvalidAccessError, UnreadableFileError
from services.knowledge_store.domain.ingest_report import FileFailure

MAX_ACCESS_FILE_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class FoundFile:
    """`inherited` is None where a broken access file governs the folder: then nobody may read the file."""

    path: Path
    relative_path: str
    inherited: AccessSettings | None


@dataclass(slots=True)
class FolderScan:
    """`closed_folders`: folders that could not be listed, so what is known of them must be closed."""

    files: list[FoundFile] = field(default_factory=list)
    failures: list[FileFailure] = field(default_factory=list)
    closed_folders: list[str] = field(default_factory=list)


def scan_folder(root: Path) -> FolderScan:
    """Walk `root` in a stable order. Hidden entries are skipped silently, links never lead out of the folder."""
    scan = FolderScan()
    _scan(scan, root.resolve(), root.resolve(), AccessSettings())
    return scan


def _scan(scan: FolderScan, root: Path, folder: Path, inherited: AccessSettings | None) -> None:
    relative = _relative(root, folder)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        scan.failures.append(FileFailure(relative, f"the folder cannot be listed: {error.strerror}"))
        scan.closed_folders.append(relative)
        return
    if any(entry.name == ACCESS_FILE_NAME for entry in entries):
        inherited = _read_access_file(scan, root, folder / ACCESS_FILE_NAME)
    for entry in _visible(entries):
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            _scan(scan, root, path, inherited)
        elif (fault := _fault_of(root, entry)) is not None:
            scan.failures.append(FileFailure(_relative(root, path), fault))
        else:
            scan.files.append(FoundFile(path, _relative(root, path), inherited))


def _visible(entries: list[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    return (entry for entry in entries if not entry.name.startswith(".") and entry.name != ACCESS_FILE_NAME)


def _fault_of(root: Path, entry: os.DirEntry[str]) -> str | None:
    """Why this entry is not read, or None. A link could show a file under another folder's rights: none is followed."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in entry.name):
        return "the file name holds characters that cannot be shown; rename the file"
    if entry.is_symlink():
        inside = Path(entry.path).resolve(strict=False).is_relative_to(root)
        return f"a link that leads {'elsewhere in' if inside else 'out of'} the folder; links are not followed"
    return None if entry.is_file(follow_symlinks=False) else "not a regular file"


def _read_access_file(scan: FolderScan, root: Path, path: Path) -> AccessSettings | None:
    """The settings of the folder, or None after reporting: a declaration that is not understood closes the folder."""
    try:
        if path.is_symlink() or not path.is_file():
            raise InvalidAccessError("not a regular file")
        if path.stat().st_size > MAX_ACCESS_FILE_BYTES:
            raise InvalidAccessError("too large for an access file")
        return parse_access_file(decode_text(path.read_bytes()))
    except UnreadableFileError as error:
        reason, line = error.reason, error.line
    except OSError as error:
        reason, line = f"cannot be read: {error.strerror}", None
    closed = f"{reason}. Nothing under this folder is readable until this is mended"
    scan.failures.append(FileFailure(_relative(root, path), closed, line))
    return None


def _relative(root: Path, path: Path) -> str:
    return os.fsencode(path.relative_to(root).as_posix()).decode("utf-8", "replace")
