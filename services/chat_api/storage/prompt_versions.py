"""Prompt versions register themselves with the first turn that used them."""

from collections.abc import Iterable

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.domain.prompts import PromptVersion
from shared.database.tables.traces import prompt_versions


async def register_prompts(connection: AsyncConnection, prompts: Iterable[PromptVersion]) -> None:
    rows = {prompt.id: {"id": prompt.id, "name": prompt.name, "static_text": prompt.static_text} for prompt in prompts}
    if rows:
        ordered = [rows[id_] for id_ in sorted(rows)]
        await connection.execute(insert(prompt_versions).values(ordered).on_conflict_do_nothing(index_elements=["id"]))
