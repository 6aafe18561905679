"""What was seen and done during a run, so that a violation can be told with its history."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

Closing = Literal["finished", "failed", "interrupted", "none"]
_NEAR_SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class Entry:
    """`at` counts from the start of the run, in seconds."""

    at: float
    subjects: frozenset[str]
    text: str

    def __str__(self) -> str:
        return f"{self.at:7.2f} s  {self.text}"


@dataclass(frozen=True, slots=True)
class SeenTurn:
    """What a client was told of one turn. `closing` is `none` where the stream broke off."""

    message_id: str
    conversation_id: str
    question: str
    text: str
    closing: Closing
    outcome: str | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class AcceptedRating:
    message_id: str
    value: int | None
    revision: int


@dataclass(frozen=True, slots=True)
class AcceptedClick:
    message_id: str
    click_id: str


@dataclass(slots=True)
class Chronicle:
    started: float = field(default_factory=time.monotonic)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    entries: list[Entry] = field(default_factory=list)
    turns: list[SeenTurn] = field(default_factory=list)
    ratings: list[AcceptedRating] = field(default_factory=list)
    clicks: list[AcceptedClick] = field(default_factory=list)
    clicks_tried: set[str] = field(default_factory=set)
    deletions: set[str] = field(default_factory=set)
    self_ended: list[str] = field(default_factory=list)

    def note(self, text: str, *subjects: str) -> None:
        self.entries.append(Entry(time.monotonic() - self.started, frozenset(subjects), text))

    def history_of(self, subjects: Iterable[str]) -> list[Entry]:
        """All entries on any of these, with the faults near them in time."""
        wanted = frozenset(subjects) - {""}
        own = [entry for entry in self.entries if entry.subjects & wanted]
        moments = [entry.at for entry in own]
        faults = [
            entry
            for entry in self.entries
            if not entry.subjects and any(abs(entry.at - moment) <= _NEAR_SECONDS for moment in moments)
        ]
        return sorted([*own, *faults], key=lambda entry: entry.at)
