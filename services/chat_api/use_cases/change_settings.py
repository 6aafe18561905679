"""Change what rules the turns of every front. Nothing is overwritten: each change is a revision with who and when."""

from collections.abc import Callable
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.chat_api.storage.keyset import Page, PageRequest
from services.chat_api.storage.setting_revisions import (
    SettingRevision,
    add_revision,
    hold_changes,
    list_revisions,
    newest_revision,
    read_version,
)
from services.chat_api.use_cases.errors import SettingChangedError
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from shared.identity import Identity


class ChangeSettings:
    def __init__(self, engine: AsyncEngine, runtime: RuntimeSettings, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._runtime = runtime
        self._now = now

    async def revision_of(self, name: str) -> int:
        """0 as long as nobody changed it. What this front knows is then not older than that revision."""
        async with self._engine.connect() as connection:
            version = await read_version(connection)
            newest = await newest_revision(connection, name)
        await self._runtime.be_at(version)
        return newest.revision if newest else 0

    async def execute(self, identity: Identity, name: str, value: BaseModel, expected: int | None) -> SettingRevision:
        """`expected` is the revision that the caller saw, None for any. Raises SettingChangedError."""
        async with self._engine.begin() as connection:
            await hold_changes(connection)
            revision = await _next_revision(connection, name, expected)
            stored = await add_revision(
                connection, name, revision, value.model_dump(mode="json"), identity.user_id, self._now()
            )
            version = await read_version(connection)
        await self._runtime.be_at(version)
        return stored

    async def list(self, page: PageRequest) -> Page[SettingRevision]:
        """Raises BadCursorError."""
        async with self._engine.connect() as connection:
            return await list_revisions(connection, page)


async def _next_revision(connection: AsyncConnection, name: str, expected: int | None) -> int:
    newest = await newest_revision(connection, name)
    now_at = newest.revision if newest else 0
    if expected is not None and expected != now_at:
        by = f" by {newest.changed_by}" if newest else ""
        raise SettingChangedError(f"Revision {now_at}{by} holds now. Read it again, then decide.")
    return now_at + 1
