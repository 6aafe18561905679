"""Settings as revisions: nothing is overwritten, and the newest revision of a name is what holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, func, insert, select, text
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.storage.keyset import Page, PageRequest, read_page
from shared.database.tables.administration import setting_revisions as revisions

SETTINGS_CHANNEL = "achilles_settings"


@dataclass(frozen=True, slots=True)
class SettingRevision:
    """`revision` counts from 1 within its name."""

    id: UUID
    name: str
    revision: int
    value: Mapping[str, Any]
    changed_by: str
    changed_at: datetime


_REVISION = (
    revisions.c.id,
    revisions.c.name,
    revisions.c.revision,
    revisions.c.value,
    revisions.c.changed_by,
    revisions.c.changed_at,
)
# Grows with every change. As a sub-query it costs a running transaction one look at an index and no round trip.
settings_version = select(func.coalesce(func.max(revisions.c.position), 0)).scalar_subquery()


async def read_version(connection: AsyncConnection) -> int:
    return int(await connection.scalar(select(settings_version)) or 0)


async def newest_revisions(connection: AsyncConnection) -> dict[str, SettingRevision]:
    """By name."""
    statement = (
        select(*_REVISION).ext(distinct_on(revisions.c.name)).order_by(revisions.c.name, revisions.c.revision.desc())
    )
    return {row.name: _revision(row) for row in await connection.execute(statement)}


async def newest_revision(connection: AsyncConnection, name: str) -> SettingRevision | None:
    statement = select(*_REVISION).where(revisions.c.name == name).order_by(revisions.c.revision.desc()).limit(1)
    row = (await connection.execute(statement)).one_or_none()
    return _revision(row) if row else None


async def revisions_before(
    connection: AsyncConnection, later: SettingRevision, *, at_most: int
) -> list[SettingRevision]:
    """Of the same name, newest first."""
    older = (revisions.c.name == later.name) & (revisions.c.revision < later.revision)
    statement = select(*_REVISION).where(older).order_by(revisions.c.revision.desc()).limit(at_most)
    return [_revision(row) for row in await connection.execute(statement)]


async def find_revision(connection: AsyncConnection, revision_id: UUID) -> SettingRevision | None:
    row = (await connection.execute(select(*_REVISION).where(revisions.c.id == revision_id))).one_or_none()
    return _revision(row) if row else None


async def list_revisions(connection: AsyncConnection, page: PageRequest) -> Page[SettingRevision]:
    """Newest first, unless asked the other way round."""
    anchor = select(revisions.c.position, revisions.c.id)
    rows, has_more = await read_page(
        connection, select(*_REVISION), anchor, (revisions.c.position, revisions.c.id), page
    )
    return Page(tuple(_revision(row) for row in rows), has_more)


async def hold_changes(connection: AsyncConnection) -> None:
    """One change at a time until the transaction ends, so that a greater position is never seen before a smaller."""
    await connection.execute(text("LOCK TABLE chat.setting_revisions IN EXCLUSIVE MODE"))


async def add_revision(
    connection: AsyncConnection, name: str, revision: int, value: Mapping[str, Any], changed_by: str, now: datetime
) -> SettingRevision:
    statement = (
        insert(revisions)
        .values(name=name, revision=revision, value=value, changed_by=changed_by, changed_at=now)
        .returning(*_REVISION)
    )
    return _revision((await connection.execute(statement)).one())


def _revision(row: Row[*tuple[Any, ...]]) -> SettingRevision:
    return SettingRevision(**row._asdict())
