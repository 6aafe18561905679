"""Usage of model calls, one row a call."""

from collections.abc import Sequence

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.signals import usage
from shared.events import UsageRecorded


async def apply_usage(connection: AsyncConnection, events: Sequence[UsageRecorded]) -> None:
    rows = [{"event_id": event.event_id, **event.model_dump()} for event in events]
    await connection.execute(insert(usage).values(rows).on_conflict_do_nothing(index_elements=["event_id"]))
