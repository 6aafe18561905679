"""What the exit status of `achilles` means, the same for every command."""

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    INCOMPLETE = 1
    USAGE = 2
    NOT_RUNNING = 3
    ALREADY_RUNNING = 4
    PORT_IN_USE = 5
    FAILED = 6
    INTERRUPTED = 130


EXIT_CODES_HELP = (
    "Exit status: 0 done · 1 done in part, or something is not reachable · 2 usage · 3 nothing is running · "
    "4 already running on this data folder · 5 port in use · 6 failed · 130 interrupted"
)
