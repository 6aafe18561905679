"""The JetStream streams, declared once."""

from dataclasses import dataclass
from datetime import timedelta

SIGNAL_STREAM = "ACHILLES_SIGNAL"
TRACE_STREAM = "ACHILLES_TRACE"


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """A stream keeps by limits (age, size, discard old), so that several durable consumers each see everything."""

    name: str
    subjects: tuple[str, ...]
    max_age: timedelta = timedelta(days=14)
    max_bytes: int = 1024**3
    duplicate_window: timedelta = timedelta(minutes=2)


STREAMS = (
    StreamSpec(SIGNAL_STREAM, ("achilles.signal.v1.>",)),
    StreamSpec(TRACE_STREAM, ("achilles.trace.v1.>",)),
)
ALL_STREAMS = tuple(spec.name for spec in STREAMS)


def stream_of(subject: str) -> str | None:
    """The stream that takes the subject; None if none does."""
    for spec in STREAMS:
        if any(subject.startswith(pattern.removesuffix(">")) for pattern in spec.subjects):
            return spec.name
    return None
