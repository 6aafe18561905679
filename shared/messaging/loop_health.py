"""Whether what happens beside the answers still works: one leg for each part that could stop in silence.

The age of the oldest row in the ledger is the measure of the whole pipeline; the canaries tell which part stopped.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.mesh import canaries, canaries_sent, dead_letters, outbox
from shared.events.streams import SIGNAL_STREAM, TRACE_STREAM
from shared.knowledge_contract import STORE_CONSUMER

# Each durable consumer of ours, with its stream.
# The store's own consumer is judged from its first canary on: a store of somebody else may pass none along.
OUR_CONSUMERS: dict[str, str] = {"signal_worker": SIGNAL_STREAM, "trace_writer": TRACE_STREAM}

LegState = Literal["green", "amber", "red"]
LegReason = Literal["works", "waits", "stuck", "arrives_late", "never_arrived", "not_sent", "letters_wait", "starting"]
_STATE_OF: dict[LegReason, LegState] = {
    "works": "green",
    "waits": "amber",
    "stuck": "red",
    "arrives_late": "red",
    "never_arrived": "red",
    "not_sent": "red",
    "letters_wait": "amber",
    "starting": "amber",
}


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    """`canary_every` is how often canaries are sent; what is older than `canary_stale_after` is a fault."""

    canary_every: timedelta = timedelta(seconds=30)
    canary_stale_after: timedelta = timedelta(seconds=90)
    outbox_amber_after: timedelta = timedelta(seconds=60)
    outbox_red_after: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Leg:
    """`age` and `count` are what the judgement rests on; `age` in seconds, None where nothing has happened yet."""

    name: str
    reason: LegReason
    age: float | None = None
    count: int | None = None

    @property
    def state(self) -> LegState:
        return _STATE_OF[self.reason]


class Judged(Protocol):
    """A leg, or whatever else has a state."""

    @property
    def state(self) -> LegState: ...


@dataclass(frozen=True, slots=True)
class LoopFigures:
    """Read in one transaction. Times are the database's; `applied` names consumers with their last canary."""

    now: datetime
    outbox_rows: int
    outbox_oldest: datetime | None
    dead_letters: int
    sent: dict[str, datetime]
    applied: dict[str, datetime]


async def read_figures(connection: AsyncConnection) -> LoopFigures:
    waiting = (await connection.execute(select(func.now(), func.count(), func.min(outbox.c.created_at)))).one()
    letters = (await connection.execute(select(func.count()).select_from(dead_letters))).scalar_one()
    sent = await connection.execute(select(canaries_sent.c.stream, canaries_sent.c.sent_at))
    applied = await connection.execute(select(canaries.c.consumer, canaries.c.sent_at))
    return LoopFigures(
        now=waiting[0],
        outbox_rows=waiting[1],
        outbox_oldest=waiting[2],
        dead_letters=letters,
        sent={stream: sent_at for stream, sent_at in sent},
        applied={consumer: sent_at for consumer, sent_at in applied},
    )


def judge(figures: LoopFigures, consumers: dict[str, str], policy: HealthPolicy) -> tuple[Leg, ...]:
    """`consumers` maps each durable consumer to its stream."""
    if STORE_CONSUMER in figures.applied:
        consumers = {**consumers, STORE_CONSUMER: SIGNAL_STREAM}
    return (
        _ledger(figures, policy),
        _sender(figures, policy),
        *(_consumer(figures, name, stream, policy) for name, stream in consumers.items()),
        Leg("dead_letters", "letters_wait" if figures.dead_letters else "works", count=figures.dead_letters),
    )


def worst(judged: Iterable[Judged]) -> LegState:
    states = {one.state for one in judged}
    return "red" if "red" in states else "amber" if "amber" in states else "green"


def _ledger(figures: LoopFigures, policy: HealthPolicy) -> Leg:
    age = None if figures.outbox_oldest is None else _age(figures, figures.outbox_oldest)
    reason: LegReason = "works"
    if age is not None and age > policy.outbox_amber_after.total_seconds():
        reason = "stuck" if age > policy.outbox_red_after.total_seconds() else "waits"
    return Leg("ledger", reason, age, figures.outbox_rows)


def _sender(figures: LoopFigures, policy: HealthPolicy) -> Leg:
    """While a canary waits in the ledger none is sent, and that is the ledger's fault."""
    if not figures.sent:
        return Leg("canaries", "starting")
    age = _age(figures, max(figures.sent.values()))
    silent = age > policy.canary_stale_after.total_seconds() and not figures.outbox_rows
    return Leg("canaries", "not_sent" if silent else "works", age)


def _consumer(figures: LoopFigures, name: str, stream: str, policy: HealthPolicy) -> Leg:
    """Judged by the last canary that arrived, so that a part that stops for good stays red. Canaries that nobody
    sends are the sender's fault, not the consumer's."""
    sent, applied = figures.sent.get(stream), figures.applied.get(name)
    stale = policy.canary_stale_after.total_seconds()
    reason: LegReason = "works"
    if sent is None:
        reason = "starting"
    elif applied is None:
        reason = "never_arrived" if _age(figures, sent) > stale else "starting"
    elif applied < sent and _age(figures, applied) > stale:
        reason = "arrives_late"
    return Leg(f"consumer:{name}", reason, None if applied is None else _age(figures, applied))


def _age(figures: LoopFigures, at: datetime) -> float:
    return max(0.0, (figures.now - at).total_seconds())
