"""What the tables of the workers must hold once a set of events was applied, however often and in whatever order."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from shared.events import (
    AnswerRated,
    Event,
    KnowledgeChanged,
    ModelRunTraced,
    RetrievalTraced,
    SourceAccessed,
    UsageRecorded,
)
from tests.support.rows import Rows


@dataclass(frozen=True, slots=True)
class WorkerState:
    """Ids of the rows, counters by record and kind, ratings by message, emptiness by store with its version.

    `rolled_up` are the calls, answers and input tokens of all days together.
    """

    accesses: frozenset[UUID]
    counters: dict[tuple[str, str], int]
    usage: frozenset[UUID]
    tokens: int
    rolled_up: tuple[int, int, int]
    ratings: dict[UUID, tuple[int | None, int]]
    knowledge: dict[str, tuple[int, bool]]
    retrievals: frozenset[UUID]
    runs: frozenset[UUID]


def expected_state(events: Iterable[Event], *, live: frozenset[UUID], answers: dict[UUID, UUID]) -> WorkerState:
    """`live` are the conversations that still exist, `answers` each message with its conversation."""
    unique = {event.event_id: event for event in events}.values()
    accesses = [event for event in unique if isinstance(event, SourceAccessed)]
    usage = [event for event in unique if isinstance(event, UsageRecorded)]
    ratings: dict[UUID, tuple[int | None, int]] = {}
    knowledge: dict[str, tuple[int, bool]] = {}
    for event in unique:
        if isinstance(event, AnswerRated) and answers[event.message_id] in live:
            ratings[event.message_id] = max(
                ratings.get(event.message_id, (None, 0)), (event.value, event.revision), key=lambda rated: rated[1]
            )
        elif isinstance(event, KnowledgeChanged):
            seen = (event.knowledge_version, event.is_empty)
            knowledge[event.store_id] = max(knowledge.get(event.store_id, seen), seen)
    return WorkerState(
        accesses=frozenset(event.event_id for event in accesses),
        counters=dict(Counter((event.record_id, event.kind) for event in accesses)),
        usage=frozenset(event.event_id for event in usage),
        tokens=sum(event.input_tokens for event in usage),
        rolled_up=(
            len(usage),
            sum(event.provider_call == 1 for event in usage),
            sum(event.input_tokens for event in usage),
        ),
        ratings=ratings,
        knowledge=knowledge,
        retrievals=frozenset(
            event.event_id for event in unique if isinstance(event, RetrievalTraced) and event.conversation_id in live
        ),
        runs=frozenset(
            event.event_id for event in unique if isinstance(event, ModelRunTraced) and event.conversation_id in live
        ),
    )


_ROLLED_UP = (
    "SELECT coalesce(sum(calls), 0)::int AS calls, coalesce(sum(answers), 0)::int AS answers, "
    "coalesce(sum(input_tokens), 0)::int AS tokens FROM signals.usage_daily"
)


async def stored_state(rows: Rows) -> WorkerState:
    ratings = await rows.all(
        "SELECT id, feedback, feedback_revision FROM chat.messages WHERE feedback_revision IS NOT NULL"
    )
    counters = await rows.all("SELECT record_id, kind, total FROM signals.access_counters")
    knowledge = await rows.all("SELECT store_id, knowledge_version, is_empty FROM signals.knowledge_state")
    return WorkerState(
        accesses=await _ids(rows, "signals.accesses"),
        counters={(row["record_id"], row["kind"]): row["total"] for row in counters},
        usage=await _ids(rows, "signals.usage"),
        tokens=await rows.one("SELECT coalesce(sum(input_tokens), 0) FROM signals.usage"),
        rolled_up=tuple((await rows.all(_ROLLED_UP))[0].values()),
        ratings={row["id"]: (row["feedback"], row["feedback_revision"]) for row in ratings},
        knowledge={row["store_id"]: (row["knowledge_version"], row["is_empty"]) for row in knowledge},
        retrievals=await _ids(rows, "traces.retrievals"),
        runs=await _ids(rows, "traces.runs"),
    )


async def _ids(rows: Rows, table: str) -> frozenset[UUID]:
    return frozenset(row["event_id"] for row in await rows.all(f"SELECT event_id FROM {table}"))
