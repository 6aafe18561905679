"""One owner per data folder."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from shared.embedded.errors import DataFolderInUseError


class DataFolderLock:
    """An advisory lock that the kernel releases when its holder dies, however it dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "lock"
        self._handle: int | None = None

    def acquire(self) -> None:
        """Raises DataFolderInUseError, with the holder's process id where it is known."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise DataFolderInUseError(self._folder, self._holder()) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def is_held(self) -> bool:
        """Whether somebody, this process included, holds it."""
        if self._handle is not None:
            return True
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def _holder(self) -> int | None:
        text = self._path.read_text().strip()
        return int(text) if text.isdigit() else None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _exc: BaseException | None, _tb: TracebackType | None
    ) -> None:
        self.release()
