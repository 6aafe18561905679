"""What can go wrong between us and a source that a tool asks, whichever it is."""

from shared.errors import TransientError


class SourceUnavailableError(TransientError):
    """`kind` says how it failed: timeout, unreachable, refused, status, too_large or unreadable."""

    code = "source_unavailable"
    title = "A source cannot be reached"

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
