"""Usage for whoever may see it: one's own for everybody, all of it for finance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.usage_query import Bucket, Grouping, UsageFilters, UsageQuery, ordered
from services.chat_api.domain.usage_row import UsageRow
from services.chat_api.storage.keyset import Page, PageRequest
from services.chat_api.storage.usage import list_usage
from services.chat_api.storage.usage_calendar import business_day, used_days
from services.chat_api.use_cases.errors import ReversedPeriodError, UsageOfOthersError
from shared.identity import Identity


@dataclass(frozen=True, slots=True)
class UsageScope:
    everyone: bool
    time_zone: str
    today: date
    first_day: date | None
    last_day: date | None


class ReadUsage:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def question(
        self,
        identity: Identity,
        of: UsageFilters,
        *,
        first: date | None,
        last: date | None,
        bucket: Bucket,
        group_by: Sequence[Grouping],
    ) -> UsageQuery:
        """A query that this person may ask. Raises UsageOfOthersError or ReversedPeriodError."""
        if not _sees_everyone(identity):
            if of.user not in (None, identity.user_id):
                raise UsageOfOthersError
            of = replace(of, user=identity.user_id)
        if last is None:
            async with self._engine.connect() as connection:
                last = (await business_day(connection)).today
        first = first or last.replace(day=1)
        if first > last:
            raise ReversedPeriodError(f"{first} is after {last}.")
        return UsageQuery(first, last, bucket, ordered(group_by), of)

    async def list(self, query: UsageQuery, page: PageRequest) -> Page[UsageRow]:
        """Raises BadCursorError."""
        async with self._engine.connect() as connection:
            return await list_usage(connection, query, page)

    async def scope(self, identity: Identity) -> UsageScope:
        everyone = _sees_everyone(identity)
        async with self._engine.connect() as connection:
            now = await business_day(connection)
            first, last = await used_days(connection, None if everyone else identity.user_id)
        return UsageScope(everyone, now.time_zone, now.today, first, last)


def _sees_everyone(identity: Identity) -> bool:
    return "finance" in identity.roles
