"""One batch, one transaction: the effects, the ledger rows that they settle, and the dead letters."""

import hashlib
import logging
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

from nats.js.api import Header
from pydantic import ValidationError
from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from shared.database.tables.mesh import dead_letters
from shared.events import EVENT_BY_SUBJECT, Event
from shared.messaging.envelope import CE_ID, CE_TIME
from shared.messaging.outbox import settle, settle_dead
from shared.trace_context import trace_id_of

logger = logging.getLogger(__name__)

# SQLSTATE classes: a value that the column cannot hold, and a broken constraint. All else may be mended outside, by a
# migration or a grant for instance, so it is waited for.
_PERMANENT_CLASSES = ("22", "23")


def is_permanent(fault: Exception) -> bool:
    """Whether the event itself is to blame: then it is dead-lettered. Otherwise it is tried again."""
    if not isinstance(fault, DBAPIError):
        return isinstance(fault, ValueError | TypeError)
    state = getattr(fault.orig, "sqlstate", None) or ""
    # The driver refuses some values, such as too large integers, before they reach the server.
    return state[:2] in _PERMANENT_CLASSES or isinstance(getattr(fault.orig, "__cause__", None), ValueError)


Fate = Literal["applied", "duplicate", "dead_letter"]


class Effect(Protocol):
    """Applies many events of one class at once. It must be idempotent: `ON CONFLICT` or compare-and-set."""

    def __call__(self, connection: AsyncConnection, events: Sequence[Any], /) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message as the broker handed it over, still in bytes. `deliveries` counts from 1."""

    subject: str
    body: bytes
    headers: Mapping[str, str]
    deliveries: int = 1

    @property
    def ledger_id(self) -> UUID | None:
        """The event's id as its sender claims it; None where the header is absent or no UUID."""
        try:
            return UUID(self.headers.get(CE_ID, ""))
        except ValueError:
            return None

    @property
    def event_id(self) -> str:
        """The claimed id, or one made of what was sent, so that two letters without an id stay two."""
        if self.ledger_id:
            return str(self.ledger_id)
        return "sha256:" + hashlib.sha256(self.subject.encode() + b"\n" + self.body).hexdigest()

    @property
    def occurred_at(self) -> datetime | None:
        """When it happened, as its sender says; None where the header is absent or no time with a zone."""
        try:
            told = datetime.fromisoformat(self.headers.get(CE_TIME, ""))
        except ValueError:
            return None
        return told if told.tzinfo else None

    @property
    def came_before(self) -> bool:
        """Whether it was handed over, or sent by a relay, once already."""
        epoch = self.headers.get(Header.MSG_ID, "").rpartition(":")[2]
        return self.deliveries > 1 or (epoch.isdigit() and int(epoch) > 1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one message. A duplicate came again after its ledger row had gone with its effect."""

    delivery: Delivery
    fate: Fate


@dataclass(frozen=True, slots=True)
class DeadLetter:
    delivery: Delivery
    reason_class: str


class DeliveryService:
    """Decides for each message of a batch: applied, or dead-lettered with its reason class."""

    def __init__(self, engine: AsyncEngine, consumer: str, effects: Mapping[type[Event], Effect]) -> None:
        self._engine = engine
        self._consumer = consumer
        self._effects = effects

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        """Returns after the commit. Raises when the database is away: nothing was written, try the batch again."""
        parsed, dead = self._parse_all(deliveries)
        try:
            return await self._apply(parsed, dead)
        except Exception as fault:
            if not is_permanent(fault):
                raise
            # One bad event must not harm its neighbours: look at each alone.
            return await self._apply_singly(parsed, dead)

    def _parse_all(self, deliveries: Sequence[Delivery]) -> tuple[list[tuple[Delivery, Event]], list[DeadLetter]]:
        parsed: list[tuple[Delivery, Event]] = []
        dead: list[DeadLetter] = []
        for delivery in deliveries:
            event = self._parse(delivery)
            if isinstance(event, DeadLetter):
                dead.append(event)
            else:
                parsed.append((delivery, event))
        return parsed, dead

    def _parse(self, delivery: Delivery) -> Event | DeadLetter:
        event_class = EVENT_BY_SUBJECT.get(delivery.subject)
        if event_class is None or event_class not in self._effects:
            return DeadLetter(delivery, "unknown_subject")
        try:
            return event_class.model_validate_json(delivery.body)
        except ValidationError:
            return DeadLetter(delivery, "unparsable")

    async def _apply(self, parsed: Sequence[tuple[Delivery, Event]], dead: Sequence[DeadLetter]) -> list[Outcome]:
        async with self._engine.begin() as connection:
            for event_class, effect in self._effects.items():
                events = [event for _, event in parsed if type(event) is event_class]
                if events:
                    await effect(connection, events)
            settled = await settle(connection, [event.event_id for _, event in parsed])
            await self._bury(connection, dead)
        return _outcomes(parsed, settled, dead)

    async def _apply_singly(self, parsed: Sequence[tuple[Delivery, Event]], dead: list[DeadLetter]) -> list[Outcome]:
        applied: list[tuple[Delivery, Event]] = []
        async with self._engine.begin() as connection:
            for delivery, event in parsed:
                try:
                    async with connection.begin_nested():
                        await self._effects[type(event)](connection, [event])
                    applied.append((delivery, event))
                except Exception as fault:
                    if not is_permanent(fault):
                        raise
                    dead.append(DeadLetter(delivery, _reason_class(fault)))
            settled = await settle(connection, [event.event_id for _, event in applied])
            await self._bury(connection, dead)
        return _outcomes(applied, settled, dead)

    async def give_up(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        """Dead-letter messages that were delivered too often: each time something stopped the worker."""
        dead = [DeadLetter(delivery, "too_many_deliveries") for delivery in deliveries]
        async with self._engine.begin() as connection:
            await self._bury(connection, dead)
        return _outcomes((), frozenset(), dead)

    async def _bury(self, connection: AsyncConnection, dead: Sequence[DeadLetter]) -> None:
        for letter in dead:
            delivery = letter.delivery
            row = insert(dead_letters).values(
                consumer=self._consumer,
                event_id=delivery.event_id,
                subject=delivery.subject,
                reason_class=letter.reason_class,
                payload=delivery.body,
                headers=dict(delivery.headers),
                deliveries=delivery.deliveries,
            )
            await connection.execute(
                row.on_conflict_do_update(
                    index_elements=["consumer", "event_id"],
                    set_={
                        "last_seen_at": func.now(),
                        "deliveries": row.excluded.deliveries,
                        "reason_class": row.excluded.reason_class,
                    },
                )
            )
            if delivery.ledger_id:
                await settle_dead(connection, delivery.ledger_id, delivery.body)
            about = {"subject": delivery.subject, "reason": letter.reason_class}
            logger.warning("dead_letter", extra={**about, "trace_id": trace_id_of(delivery.headers)})


def _outcomes(
    applied: Sequence[tuple[Delivery, Event]], settled: Collection[UUID], dead: Sequence[DeadLetter]
) -> list[Outcome]:
    """An event without a ledger row is no duplicate if it came for the first time: others publish without a ledger."""
    return [
        *(
            Outcome(one, "duplicate" if one.came_before and event.event_id not in settled else "applied")
            for one, event in applied
        ),
        *(Outcome(letter.delivery, "dead_letter") for letter in dead),
    ]


def _reason_class(fault: Exception) -> str:
    cause = getattr(fault, "orig", None)
    return type(getattr(cause, "__cause__", None) or cause or fault).__name__
