"""People read standard error, programs read standard output."""

import sys

from rich.console import Console


def make_console() -> Console:
    """For progress and messages."""
    return _plain_unless_terminal(Console(stderr=True, highlight=False), is_error=True)


def make_output_console() -> Console:
    """For a result that people read."""
    return _plain_unless_terminal(Console(highlight=False), is_error=False)


def _plain_unless_terminal(console: Console, *, is_error: bool) -> Console:
    # In a pipe or a file nothing is wrapped: a line stays a line.
    return console if console.is_terminal else Console(stderr=is_error, highlight=False, width=10_000, soft_wrap=True)


def print_result(text: str) -> None:
    """One line on standard output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
