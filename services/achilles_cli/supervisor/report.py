"""What happens to the children, told to a person."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console


class Report:
    """One line a part, with the time it took."""

    def __init__(self, console: Console) -> None:
        self.console = console

    @contextmanager
    def timed(self, what: str, doing: str = "ready") -> Iterator[None]:
        """Nothing is said for work that fails: the fault says it."""
        began = monotonic()
        yield
        self.console.print(f"[green]✓[/] {what} {doing} [dim]{monotonic() - began:.1f} s[/]")

    def note(self, text: str) -> None:
        self.console.print(f"[dim]·[/] {text}", markup=True)

    def crashed(self, name: str, why: str, pause: float, log_tail: str) -> None:
        if log_tail:
            self.console.print(log_tail, style="dim", markup=False)
        self.console.print(f"[red]✗[/] {name} {why}; starting it again in {pause:.0f} s")

    def recovered(self, name: str) -> None:
        self.console.print(f"[green]✓[/] {name} is back")

    def stopping(self) -> None:
        self.console.print("[dim]·[/] stopping (once more to kill at once)")
