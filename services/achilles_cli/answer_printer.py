"""An answer in the terminal: text on standard output as it arrives, everything else on standard error."""

import sys

from rich.console import Console
from rich.markup import escape

from services.achilles_cli.front_client import ChatAnswer

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
            self._console.print(f"[dim]{escape(text)}[/]")

    def text(self, delta: str) -> None:
        if not self._quiet:
            sys.stdout.write(_printable(delta))
            sys.stdout.flush()

    def finish(self, answer: ChatAnswer) -> None:
        if answer.text:
            sys.stdout.write("\n")
            sys.stdout.flush()
        for source in answer.citations:
            title, system = escape(_printable(source.title)), escape(_printable(source.source_system))
            self._console.print(f"  \\[{source.n}] {title} [dim]· {system} · {escape(source.url)}[/]")
        if answer.hint and answer.outcome == "partial":
            self._console.print(f"[yellow]{escape(_printable(answer.hint.text))}[/]")
        if answer.outcome in _LABELS:
            self._console.print(f"[dim]({_LABELS[answer.outcome]})[/]")
        self._console.print(f"[dim]conversation {answer.conversation_id}[/]")


def _printable(text: str) -> str:
    """A document's text must not steer the terminal: control characters are left out."""
    return "".join(char for char in text if char.isprintable() or char in "\n\t")
