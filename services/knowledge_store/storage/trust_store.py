"""Accesses and the trust they add up to. The caller owns the transaction."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.knowledge_store.domain.trust import Access, Trust
from services.knowledge_store.storage.tables import access_signal, trust, trust_state

# One writer at a time, over all processes: a score is read, added to and written back.
TRUST_LOCK = 7_305_110_003

_ACCESS = (access_signal.c.event_id, access_signal.c.record_id, access_signal.c.kind, access_signal.c.occurred_at)
_ROWS_AT_ONCE = 5_000


class TrustStore:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def lock(self) -> None:
        """Until the end of the transaction."""
        await self._connection.execute(select(func.pg_advisory_xact_lock(TRUST_LOCK)))

    async def load(self, record_ids: Collection[str]) -> dict[str, Trust]:
        rows = await self._connection.execute(select(trust).where(trust.c.record_id.in_(record_ids)))
        return {row.record_id: Trust(row.score, row.as_of) for row in rows}

    async def insert_new(self, accesses: Sequence[Access]) -> list[Access]:
        """Write down those that are not known yet, and return them."""
        if not accesses:
            return []
        statement = insert(access_signal).values([asdict(access) for access in accesses])
        rows = await self._connection.execute(
            statement.on_conflict_do_nothing(index_elements=["event_id"]).returning(*_ACCESS)
        )
        return [Access(*row) for row in rows]

    async def save(self, scores: Mapping[str, Trust]) -> None:
        if not scores:
            return
        rows = [{"record_id": record_id, **asdict(found)} for record_id, found in scores.items()]
        statement = insert(trust)
        await self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=["record_id"],
                set_={"score": statement.excluded.score, "as_of": statement.excluded.as_of},
            ),
            rows,
        )

    async def all_accesses(self) -> AsyncIterator[Access]:
        async with self._connection.stream(select(*_ACCESS).execution_options(yield_per=_ROWS_AT_ONCE)) as rows:
            async for row in rows:
                yield Access(*row)

    async def clear(self) -> None:
        await self._connection.execute(delete(trust))

    async def forget_before(self, horizon: datetime) -> None:
        """Accesses that count no more, and records that were last used before."""
        await self._connection.execute(delete(access_signal).where(access_signal.c.occurred_at < horizon))
        await self._connection.execute(delete(trust).where(trust.c.as_of < horizon))

    async def rule(self) -> str | None:
        return await self._connection.scalar(select(trust_state.c.rule))

    async def set_rule(self, rule: str) -> None:
        await self._connection.execute(update(trust_state).values(rule=rule))

    async def canary_at(self) -> datetime | None:
        return await self._connection.scalar(select(trust_state.c.canary_at))

    async def note_canary(self, sent_at: datetime) -> None:
        """A later one is never overwritten by an earlier one."""
        newer = trust_state.c.canary_at.is_(None) | (trust_state.c.canary_at < sent_at)
        await self._connection.execute(update(trust_state).where(newer).values(canary_at=sent_at))

    async def bookmark(self) -> UUID | None:
        return await self._connection.scalar(select(trust_state.c.bookmark))

    async def set_bookmark(self, event_id: UUID | None) -> None:
        await self._connection.execute(update(trust_state).values(bookmark=event_id))
