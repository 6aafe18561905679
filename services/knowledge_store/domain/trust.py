"""Trust: each use of a record counts, and counts half after each half-life.

The score at a time t is the sum over all accesses of weight * 2 ** (-(t - occurred_at) / half_life). It is kept as one
number and the time it belongs to, because it decays as a whole: so an access is added without looking at the others,
and the order in which accesses arrive does not matter.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from shared.events.accessed import AccessKind

# What is left of an access after so many half-lives changes nothing, and is forgotten.
FORGOTTEN_AFTER_HALF_LIVES = 20


@dataclass(frozen=True, slots=True)
class Access:
    """One use of a record. The same `event_id` is the same use, however often it is told."""

    event_id: UUID
    record_id: str
    kind: AccessKind
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Trust:
    """`score` as it was at `as_of`."""

    score: float
    as_of: datetime


@dataclass(frozen=True, slots=True)
class TrustRule:
    half_life: timedelta
    cited_weight: float
    clicked_weight: float

    def weight_of(self, kind: AccessKind) -> float:
        return self.clicked_weight if kind == "clicked" else self.cited_weight

    def at(self, trust: Trust, when: datetime) -> float:
        """The score at `when`, which does not lie before `as_of`: trust is never read back into the past."""
        age = max(timedelta(0), when - trust.as_of)
        return trust.score * float(0.5 ** (age / self.half_life))

    def add(self, trust: Trust | None, access: Access) -> Trust:
        """With this access counted, whether it is newer or older than what is counted already."""
        single = Trust(self.weight_of(access.kind), access.occurred_at)
        if trust is None:
            return single
        as_of = max(trust.as_of, single.as_of)
        return Trust(self.at(trust, as_of) + self.at(single, as_of), as_of)

    def horizon(self, now: datetime) -> datetime:
        """Accesses before it no longer count."""
        try:
            return now - FORGOTTEN_AFTER_HALF_LIVES * self.half_life
        except OverflowError:
            return datetime.min.replace(tzinfo=now.tzinfo)

    def __str__(self) -> str:
        return f"half-life {self.half_life.total_seconds()} s, cited {self.cited_weight}, clicked {self.clicked_weight}"
