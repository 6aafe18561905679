"""Duplicates, any order, failed transactions, deleted conversations: the same final state (a state machine)."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID, uuid5

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy.ext.asyncio import AsyncConnection

from services.signal_worker.wiring import EFFECTS as SIGNAL_EFFECTS
from services.trace_writer.wiring import EFFECTS as TRACE_EFFECTS
from shared.database.engine import make_engine
from shared.events import CANARY_CLASSES, EVENT_CLASSES, Event
from shared.messaging.delivery import Delivery, DeliveryService, Effect
from shared.messaging.envelope import body_of, headers_of
from shared.messaging.outbox import enqueue
from tests.support.events import (
    make_click,
    make_knowledge_change,
    make_rating,
    make_retrieval,
    make_run,
    make_usage,
)
from tests.support.expected_state import WorkerState, expected_state, stored_state
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]
Result = TypeVar("Result")

_SPACE = UUID("3d0b2a52-93c3-4b76-a0bb-8f6b9c1d2e3f")
_CONVERSATIONS = tuple(uuid5(_SPACE, f"conversation {number}") for number in range(2))
# Two answers in each conversation.
_ANSWERS = {uuid5(conversation, f"answer {n}"): conversation for conversation in _CONVERSATIONS for n in range(2)}
_TABLES = (
    "mesh.outbox, mesh.dead_letters, signals.accesses, signals.access_counters, signals.usage, "
    "signals.usage_daily, signals.knowledge_state, traces.prompt_versions, chat.conversations"
)


def _all_events() -> tuple[Event, ...]:
    """All that ever happened in this small world."""
    events: list[Event] = []
    for message, conversation in _ANSWERS.items():
        for click in ("k1", "k2"):
            events.append(make_click(click, message_id=message, record_id=f"{click}.md"))
        events += [make_rating(message, value, revision) for revision, value in enumerate((1, None, -1), start=1)]
        events += [make_usage(message_id=message, provider_call=call, input_tokens=10 * call) for call in (1, 2)]
        events += [make_run(message, conversation, call) for call in (1, 2)]
        events.append(make_retrieval(message, conversation))
    events += [make_knowledge_change(version, is_empty=version % 2 == 0) for version in range(1, 6)]
    return tuple(events)


_EVENTS = _all_events()
_CHOSEN = st.lists(st.integers(0, len(_EVENTS) - 1), min_size=1, max_size=12)


class _DatabaseLostError(OSError):
    """The session breaks after the effects and before the commit."""


class _Mesh:
    """The two workers' services over one database, driven without a broker."""

    def __init__(self, rows: Rows, database_url: str) -> None:
        self.rows = rows
        self.engine = make_engine(database_url, application_name="test", pool_size=1)

    async def clear(self) -> None:
        await self.rows.run(f"TRUNCATE {_TABLES} CASCADE")
        await self.rows.run("INSERT INTO traces.prompt_versions (id, name, static_text) VALUES ('p', 'p', 'p')")
        for conversation in _CONVERSATIONS:
            await self.rows.run(
                "INSERT INTO chat.conversations (id, owner_id, title) VALUES ($1, 'anna', 't')", conversation
            )
        for message, conversation in _ANSWERS.items():
            await self.rows.run(
                "INSERT INTO chat.messages (id, conversation_id, role, content, outcome) "
                "VALUES ($1, $2, 'assistant', 'Answer', 'grounded')",
                message,
                conversation,
            )

    async def write_down(self) -> None:
        async with self.engine.begin() as connection:
            await enqueue(connection, _EVENTS, source="test")

    async def deliver(self, events: Sequence[Event], *, losing_the_database: bool = False) -> None:
        for name, effects in (("signal_worker", SIGNAL_EFFECTS), ("trace_writer", TRACE_EFFECTS)):
            mine = [_delivery(event) for event in events if type(event) in effects]
            if losing_the_database:
                with pytest.raises(_DatabaseLostError):
                    await DeliveryService(self.engine, name, _breaking(effects)).deliver(mine or [_any_of(effects)])
            else:
                await DeliveryService(self.engine, name, effects).deliver(mine)


def _delivery(event: Event) -> Delivery:
    return Delivery(event.subject, body_of(event), headers_of(event, source="test"))


def _any_of(effects: Mapping[type[Event], Effect]) -> Delivery:
    return _delivery(next(event for event in _EVENTS if type(event) in effects))


def _breaking(effects: Mapping[type[Event], Effect]) -> dict[type[Event], Effect]:
    def broken(effect: Effect) -> Effect:
        async def apply(connection: AsyncConnection, events: Sequence[Any]) -> None:
            await effect(connection, events)
            raise _DatabaseLostError

        return apply

    return {event_class: broken(effect) for event_class, effect in effects.items()}


class DeliveryMachine(RuleBasedStateMachine):
    """After each step the tables hold exactly what the events delivered so far come to."""

    mesh: _Mesh
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self._delivered: set[int] = set()
        self._live = set(_CONVERSATIONS)
        self._run(self.mesh.clear())
        self._run(self.mesh.write_down())

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(work)

    @rule(chosen=_CHOSEN)
    def some_events_arrive(self, chosen: list[int]) -> None:
        """In any order, and with repetitions within the batch."""
        self._run(self.mesh.deliver([_EVENTS[number] for number in chosen]))
        self._delivered |= set(chosen)

    @rule()
    def all_that_ever_arrived_arrives_again_backwards(self) -> None:
        self._run(self.mesh.deliver([_EVENTS[number] for number in sorted(self._delivered, reverse=True)]))

    @rule(chosen=_CHOSEN)
    def the_database_is_lost_before_the_commit(self, chosen: list[int]) -> None:
        self._run(self.mesh.deliver([_EVENTS[number] for number in chosen], losing_the_database=True))

    @rule()
    def the_first_conversation_is_deleted(self) -> None:
        self._run(self.mesh.rows.run("DELETE FROM chat.conversations WHERE id = $1", _CONVERSATIONS[0]))
        self._live.discard(_CONVERSATIONS[0])

    @invariant()
    def the_state_is_that_of_the_events_delivered(self) -> None:
        assert self._run(stored_state(self.mesh.rows)) == self._expected()
        waiting = self._run(self.mesh.rows.all("SELECT event_id FROM mesh.outbox"))
        left = {event.event_id for number, event in enumerate(_EVENTS) if number not in self._delivered}
        assert {row["event_id"] for row in waiting} == left
        assert self._run(self.mesh.rows.count("mesh.dead_letters")) == 0

    def teardown(self) -> None:
        """In the end everything arrives once more, in the order in which it happened."""
        self._run(self.mesh.deliver(_EVENTS))
        self._delivered = set(range(len(_EVENTS)))
        self.the_state_is_that_of_the_events_delivered()

    def _expected(self) -> WorkerState:
        delivered = [_EVENTS[number] for number in self._delivered]
        return expected_state(delivered, live=frozenset(self._live), answers=_ANSWERS)


@pytest.mark.req("MESH-4")
def test_duplicates_and_any_order_come_to_the_same_state(database_url: str) -> None:
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(database_url))
        mesh = _Mesh(Rows(connection), database_url)
        machine = type("DeliveryMachine", (DeliveryMachine,), {"mesh": mesh, "runner": runner})
        try:
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=15,
                    stateful_step_count=10,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(mesh.engine.dispose())
            runner.run(connection.close())


def test_every_kind_of_event_is_part_of_it() -> None:
    assert {type(event) for event in _EVENTS} == set(EVENT_CLASSES) - set(CANARY_CLASSES)
