"""Dead letters as a list."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.storage.keyset import Page, PageRequest, read_page
from shared.database.tables.mesh import dead_letters
from shared.messaging.dead_letters import StoredDeadLetter, select_letters, stored_letter

# A letter that comes back keeps its place, so that a page turned meanwhile shows no letter twice.
_KEY = (dead_letters.c.first_seen_at, dead_letters.c.id)


async def list_dead_letters(connection: AsyncConnection, page: PageRequest) -> Page[StoredDeadLetter]:
    rows, has_more = await read_page(connection, select_letters(), select(*_KEY), _KEY, page)
    return Page(tuple(stored_letter(row) for row in rows), has_more)
