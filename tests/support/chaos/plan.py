"""Which fault comes when: everything about it follows from the seed."""

from dataclasses import dataclass
from random import Random
from typing import Literal

FaultKind = Literal["kill", "freeze", "terminate_sessions", "kill_backend", "wipe_streams", "cut", "mute", "delay"]

FRONTS = ("front-1", "front-2")
WORKERS = ("signal_worker-1", "signal_worker-2", "trace_writer-1", "trace_writer-2")
SERVERS = ("nats", "valkey", "postgres")
OUTSIDE = "outside_world"
PROCESSES = (*FRONTS, *WORKERS, *SERVERS, OUTSIDE)
LINKS = ("fronts-postgres", "fronts-nats", "workers-postgres", "workers-nats")
_LONGEST_SECONDS: dict[FaultKind, float] = {"kill": 2.5, "freeze": 3.0, "cut": 2.0, "mute": 2.0, "delay": 3.0}


@dataclass(frozen=True, slots=True)
class Fault:
    """`at` and `lasts` in seconds, from the start of the run and from there on."""

    at: float
    kind: FaultKind
    target: str
    lasts: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.target}" + (f" for {self.lasts:.1f} s" if self.lasts else "")


_MUST: tuple[tuple[FaultKind, str], ...] = (
    *(("kill", target) for target in PROCESSES),
    ("wipe_streams", "nats"),
    ("terminate_sessions", "postgres"),
)
_MAY: tuple[tuple[FaultKind, str], ...] = (
    *(("freeze", target) for target in PROCESSES),
    *((kind, link) for kind in ("cut", "mute", "delay") for link in LINKS),
    ("wipe_streams", "nats"),
    ("terminate_sessions", "postgres"),
    ("terminate_sessions", "postgres"),
    ("kill_backend", "postgres"),
)


def make_plan(seed: int, seconds: float, *, every: float) -> tuple[Fault, ...]:
    """One fault each `every` seconds on average; each process is killed before anything is drawn twice."""
    random = Random(seed)
    wanted = max(len(_MUST), round(seconds / every))
    chosen: list[tuple[FaultKind, str]] = []
    while len(chosen) < wanted:
        first = list(_MUST)
        rest = random.sample(_MAY, k=min(len(_MAY), max(0, wanted - len(chosen) - len(first))))
        chosen.extend(random.sample([*first, *rest], k=len(first) + len(rest)))
    gap = seconds / wanted
    return tuple(
        _drawn(random, at=gap * (number + random.random() * 0.9), kind=kind, target=target)
        for number, (kind, target) in enumerate(chosen[:wanted])
    )


def _drawn(random: Random, *, at: float, kind: FaultKind, target: str) -> Fault:
    longest = _LONGEST_SECONDS.get(kind, 0.0)
    return Fault(at=at, kind=kind, target=target, lasts=random.uniform(0.2, longest) if longest else 0.0)
