"""What can go wrong with servers that run as children of this process."""

from pathlib import Path


class EmbeddedError(Exception):
    """Base of all faults of the embedded servers. The text is one line for the operator and holds no secret."""


class DataFolderInUseError(EmbeddedError):
    """Another process holds the lock of the data folder."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(f"the data folder {folder} is in use by {holder}")
        self.folder = folder
        self.pid = pid


class DataFolderUnreachableError(EmbeddedError):
    """The unprivileged user cannot enter the data folder."""


class RunAsUnknownError(EmbeddedError):
    """The unprivileged user does not exist or is the superuser."""


class BinaryMissingError(EmbeddedError):
    """The wheel with a server's program is not installed."""


class SecretsUnreadableError(EmbeddedError):
    """The file with generated passwords is damaged."""


class PasswordRefusedError(EmbeddedError):
    """The server answers, and refuses the password we hold: waiting longer does not help."""


class ProbeFailedError(EmbeddedError):
    """The server does not answer properly (yet). The text is the reason."""


class ProcessFailedError(EmbeddedError):
    """A child ended, or was not ready in time. `log_tail` holds the last lines it wrote."""

    def __init__(self, message: str, log_tail: str) -> None:
        super().__init__(message)
        self.log_tail = log_tail
