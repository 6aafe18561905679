"""An answer in the terminal: text on standard output as it arrives, everything else on standard error."""

import sys
import unicodedata

from rich.console import Console
from rich.markup import escape

from services.achilles_cli.front_client import ChatAnswer

# They can make a line read in another order than it stands.
_DIRECTION_CONTROLS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_STAGES = {"reading": "reading the question", "searching": "searching", "answering": "answering"}
_LABELS = {
    "not_found": "not found",
    "withheld": "hidden: it exists, but not for you",
    "partial": "partial: more exists, but not for you",
    "conversational": "not drawn from company knowledge",
    "failed": "failed",
    "interrupted": "interrupted",
}


class AnswerPrinter:
    """With `quiet`, for `--json`, nothing is printed while the answer arrives."""

    def __init__(self, console: Console, *, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet

    def stage(self, name: str) -> None:
        if not self._quiet and self._console.is_terminal:
            self._console.print(f"[dim]{_STAGES.get(name, name)} …[/]", end="\r")

    def notice(self, text: str) -> None:
        if not self._quiet:
            self._console.print(f"[dim]{_shown(text)}[/]")

    def text(self, delta: str) -> None:
        if not self._quiet:
            sys.stdout.write(_printable(delta))
            sys.stdout.flush()

    def finish(self, answer: ChatAnswer) -> None:
        if answer.text:
            sys.stdout.write("\n")
            sys.stdout.flush()
        for source in answer.citations:
            place = f"{_shown(source.source_system)} · {_shown(source.url)}"
            self._console.print(f"  \\[{source.n}] {_shown(source.title)} [dim]· {place}[/]")
        if answer.hint and answer.outcome == "partial":
            self._console.print(f"[yellow]{_shown(answer.hint.text)}[/]")
        if answer.outcome in _LABELS:
            self._console.print(f"[dim]({_LABELS[answer.outcome]})[/]")
        self._console.print(f"[dim]conversation {answer.conversation_id}[/]")


def _printable(text: str) -> str:
    """A document's text must not steer the terminal: controls are left out, and every space is a plain one."""
    return "".join(" " if unicodedata.category(char) == "Zs" else char for char in text if _is_harmless(char))


def _is_harmless(char: str) -> bool:
    return char in "\n\t" or (unicodedata.category(char) not in ("Cc", "Cs") and char not in _DIRECTION_CONTROLS)


def _shown(text: str) -> str:
    return escape(_printable(text))
