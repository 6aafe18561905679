"""Platform prompts as administrators wrote them. The id is derived from the text: the same text is the same version."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.storage.keyset import Page, PageRequest, read_page
from shared.database.tables.administration import platform_prompts as prompts


@dataclass(frozen=True, slots=True)
class PlatformPrompt:
    id: UUID
    text: str
    note: str
    created_by: str
    created_at: datetime


_PROMPT = (prompts.c.id, prompts.c.text, prompts.c.note, prompts.c.created_by, prompts.c.created_at)


async def add_prompt(connection: AsyncConnection, prompt: PlatformPrompt) -> PlatformPrompt:
    """The stored version: if the same text exists already, it stays as it is."""
    values = {
        "id": prompt.id,
        "text": prompt.text,
        "note": prompt.note,
        "created_by": prompt.created_by,
        "created_at": prompt.created_at,
    }
    await connection.execute(insert(prompts).values(values).on_conflict_do_nothing(index_elements=["id"]))
    return await find_prompt(connection, prompt.id) or prompt


async def find_prompt(connection: AsyncConnection, prompt_id: UUID) -> PlatformPrompt | None:
    row = (await connection.execute(select(*_PROMPT).where(prompts.c.id == prompt_id))).one_or_none()
    return _prompt(row) if row else None


async def list_prompts(connection: AsyncConnection, page: PageRequest) -> Page[PlatformPrompt]:
    """Newest first, unless asked the other way round."""
    anchor = select(prompts.c.created_at, prompts.c.id)
    rows, has_more = await read_page(connection, select(*_PROMPT), anchor, (prompts.c.created_at, prompts.c.id), page)
    return Page(tuple(_prompt(row) for row in rows), has_more)


def _prompt(row: Row[*tuple[Any, ...]]) -> PlatformPrompt:
    return PlatformPrompt(**row._asdict())
