"""Sends canaries through the ledger, and notes them where they arrive (docs/spec/mesh.md, MESH-8)."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import exists, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from shared.database.tables.mesh import canaries, canaries_sent, outbox
from shared.events import CANARY_CLASSES, Canary
from shared.messaging.delivery import Effect
from shared.messaging.outbox import enqueue

logger = logging.getLogger(__name__)
# Clocks of several fronts differ a little; a canary that is due within this part of the pause is sent.
_DUE_EARLY = 0.9


class CanarySender:
    """A task of every front. Whichever comes first sends; a canary that still waits is not joined by another one."""

    def __init__(self, engine: AsyncEngine, *, every: timedelta, source: str, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._every = every
        self._source = source
        self._now = now

    async def run(self) -> None:
        """Until cancelled. Without a database there is nothing to send and nowhere to say so."""
        while True:
            try:
                await self.send_due()
            except Exception as fault:  # noqa: BLE001 (the next one is tried; health shows that none came)
                logger.warning("canary_not_sent", extra={"error": type(fault).__name__})
            await asyncio.sleep(self._every.total_seconds())

    async def send_due(self) -> int:
        """How many were sent."""
        now = self._now()
        async with self._engine.begin() as connection:
            due = [one for one in CANARY_CLASSES if await self._take_turn(connection, one, now)]
            await enqueue(connection, [one(occurred_at=now) for one in due], source=self._source)
        return len(due)

    async def _take_turn(self, connection: AsyncConnection, canary: type[Canary], now: datetime) -> bool:
        waiting = await connection.execute(select(exists().where(outbox.c.subject == canary.subject)))
        if waiting.scalar_one():
            return False
        statement = insert(canaries_sent).values(stream=canary.stream, sent_at=now)
        taken = await connection.execute(
            statement.on_conflict_do_update(
                index_elements=["stream"],
                set_={"sent_at": now},
                where=canaries_sent.c.sent_at <= now - self._every * _DUE_EARLY,
            ).returning(canaries_sent.c.stream)
        )
        return taken.one_or_none() is not None


def canary_effect(consumer: str) -> Effect:
    """Notes the newest canary that this consumer has applied."""

    async def apply(connection: AsyncConnection, events: Sequence[Canary]) -> None:
        newest = max(events, key=lambda canary: canary.occurred_at)
        statement = insert(canaries).values(
            consumer=consumer, stream=newest.stream, sent_at=newest.occurred_at, applied_at=func.clock_timestamp()
        )
        await connection.execute(
            statement.on_conflict_do_update(
                index_elements=["consumer"],
                set_={"sent_at": statement.excluded.sent_at, "applied_at": statement.excluded.applied_at},
                where=canaries.c.sent_at < statement.excluded.sent_at,
            )
        )

    return apply
