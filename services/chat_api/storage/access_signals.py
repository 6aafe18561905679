"""Accesses as the signal worker wrote them down."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.storage.keyset import Page, PageRequest, read_page
from shared.access_signals_contract import AccessSignal
from shared.database.tables.signals import accesses

_KEY = (accesses.c.applied_at, accesses.c.event_id)
_SIGNAL = (
    accesses.c.event_id.label("id"),
    accesses.c.record_id,
    accesses.c.source_system,
    accesses.c.kind,
    accesses.c.occurred_at,
    accesses.c.applied_at,
)


async def list_access_signals(connection: AsyncConnection, page: PageRequest) -> Page[AccessSignal]:
    rows, has_more = await read_page(connection, select(*_SIGNAL), select(*_KEY), _KEY, page)
    return Page(tuple(AccessSignal.model_validate(row) for row in rows), has_more)
