"""Count accesses into trust, each once, from wherever they come."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.domain.trust import Access, Trust, TrustRule
from services.knowledge_store.storage.trust_store import TrustStore
from shared.events.accessed import SourceAccessed
from shared.events.canary import SignalCanary
from shared.messaging.delivery import Delivery, Fate, Outcome

logger = logging.getLogger(__name__)

MAX_RECORD_ID = 2_000


class AccessCounter:
    def __init__(self, engine: AsyncEngine, rule: TrustRule, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._rule = rule
        self._now = now

    async def count(self, accesses: Sequence[Access]) -> int:
        """How many were new; the others change nothing. Raises if the database does not answer."""
        return len(await self.count_new(accesses))

    async def count_new(self, accesses: Sequence[Access]) -> frozenset[UUID]:
        """The ids of those that were new."""
        usable = self._usable(accesses)
        if not usable:
            return frozenset()
        async with self._engine.begin() as connection:
            store = TrustStore(connection)
            await store.lock()
            new = await store.insert_new(usable)
            scores = await store.load({access.record_id for access in new})
            for access in new:
                scores[access.record_id] = self._rule.add(scores.get(access.record_id), access)
            await store.save(scores)
        return frozenset(access.event_id for access in new)

    async def note_canary(self, sent_at: datetime) -> None:
        """It counts for nothing: that it came this far is all it tells."""
        async with self._engine.begin() as connection:
            await TrustStore(connection).note_canary(sent_at)

    async def settle_rule(self) -> None:
        """Forget what counts no more; after a change of the rule, count anew by it."""
        async with self._engine.begin() as connection:
            store = TrustStore(connection)
            await store.lock()
            await store.forget_before(self._rule.horizon(self._now()))
            if await store.rule() == str(self._rule):
                return
            totals: dict[str, Trust] = {}
            async for access in store.all_accesses():
                totals[access.record_id] = self._rule.add(totals.get(access.record_id), access)
            await store.clear()
            await store.save(totals)
            await store.set_rule(str(self._rule))

    def _usable(self, accesses: Sequence[Access]) -> list[Access]:
        """Each event once. A clock that runs ahead must not make everything counted before look ancient."""
        now = self._now()
        horizon = self._rule.horizon(now)
        usable: dict[UUID, Access] = {}
        for access in accesses:
            occurred_at = min(access.occurred_at, now)
            if horizon <= occurred_at and 0 < len(access.record_id) <= MAX_RECORD_ID and "\x00" not in access.record_id:
                usable[access.event_id] = Access(access.event_id, access.record_id, access.kind, occurred_at)
        return list(usable.values())


class AccessDelivery:
    """Batches from the bus. The product's own worker keeps what cannot be read; here it is left out and logged, and
    told as a dead letter."""

    def __init__(self, counter: AccessCounter) -> None:
        self._counter = counter

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        canaries = [delivery for delivery in deliveries if delivery.subject == SignalCanary.subject]
        parsed = [(one, _parse(one)) for one in deliveries if one.subject != SignalCanary.subject]
        new = await self._counter.count_new([access for _, access in parsed if access is not None])
        accesses = [Outcome(delivery, _fate(delivery, access, new)) for delivery, access in parsed]
        return [*accesses, *await self._pass_on(canaries)]

    async def _pass_on(self, canaries: Sequence[Delivery]) -> list[Outcome]:
        sent = [(delivery, _sent_at(delivery)) for delivery in canaries]
        readable = [sent_at for _, sent_at in sent if sent_at is not None]
        if readable:
            await self._counter.note_canary(max(readable))
        return [Outcome(delivery, "applied" if sent_at else "dead_letter") for delivery, sent_at in sent]

    async def give_up(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        for delivery in deliveries:
            logger.warning("access_given_up", extra={"event_id": delivery.event_id})
        return [Outcome(delivery, "dead_letter") for delivery in deliveries]


def _fate(delivery: Delivery, access: Access | None, new: frozenset[UUID]) -> Fate:
    if access is None:
        return "dead_letter"
    return "duplicate" if delivery.came_before and access.event_id not in new else "applied"


def _parse(delivery: Delivery) -> Access | None:
    try:
        event = SourceAccessed.model_validate_json(delivery.body)
    except ValidationError:
        logger.warning("access_unreadable", extra={"event_id": delivery.event_id})
        return None
    if event.occurred_at.tzinfo is None:
        logger.warning("access_unreadable", extra={"event_id": delivery.event_id})
        return None
    return Access(event.event_id, event.record_id, event.kind, event.occurred_at)


def _sent_at(delivery: Delivery) -> datetime | None:
    try:
        sent_at = SignalCanary.model_validate_json(delivery.body).occurred_at
    except ValidationError:
        logger.warning("canary_unreadable", extra={"event_id": delivery.event_id})
        return None
    return sent_at if sent_at.tzinfo else None
