"""A trace lives as long as its conversation: one whose conversation is gone is applied as nothing."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.chat import conversations


async def live_conversations(connection: AsyncConnection, ids: Iterable[UUID]) -> set[UUID]:
    """Those of `ids` that exist, kept from being deleted until this transaction ends."""
    statement = (
        select(conversations.c.id)
        .where(conversations.c.id.in_(set(ids)))
        .order_by(conversations.c.id)
        .with_for_update(key_share=True, read=True)
    )
    return set(await connection.scalars(statement))
