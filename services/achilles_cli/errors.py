"""Faults that end a command with one clear line."""

from services.achilles_cli.exit_codes import ExitCode


class CommandError(Exception):
    """`details` (for example the end of a log) is printed above the line."""

    def __init__(self, message: str, code: ExitCode, details: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.details = details


class UsageError(CommandError):
    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.USAGE)


class NothingRunningError(CommandError):
    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.NOT_RUNNING)


class AlreadyRunningError(CommandError):
    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.ALREADY_RUNNING)


class PortInUseError(CommandError):
    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.PORT_IN_USE)


class FailedError(CommandError):
    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message, ExitCode.FAILED, details)
