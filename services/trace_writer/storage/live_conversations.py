"""A trace lives as long as its conversation: one whose conversation is gone is applied as nothing."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

_LIVE = "SELECT id FROM chat.conversations WHERE id = ANY($1::uuid[]) ORDER BY id FOR KEY SHARE"


async def live_conversations(connection: AsyncConnection, ids: Iterable[UUID]) -> set[UUID]:
    """Those of `ids` that exist, kept from being deleted until this transaction ends."""
    found = await connection.exec_driver_sql(_LIVE, (list(set(ids)),))
    return set(found.scalars())
