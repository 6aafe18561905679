"""Usage of model calls: one row a call, and the day's sums from the rows that were really inserted."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from shared.events import UsageRecorded
from shared.usage.rollups import LOCK_FOR_ADDING, add_to_sums, sums_of

_TYPE_OF = {
    "event_id": "uuid",
    "message_id": "uuid",
    "provider_call": "integer",
    "user_id": "text",
    "department": "text",
    "provider": "text",
    "model": "text",
    "input_tokens": "integer",
    "cached_input_tokens": "integer",
    "cache_write_tokens": "integer",
    "output_tokens": "integer",
    "reasoning_tokens": "integer",
    "estimated": "boolean",
    "cost": "numeric",
    "currency": "text",
    "occurred_at": "timestamptz",
}
_ARRAYS = ", ".join(f"${number}::{type_}[]" for number, type_ in enumerate(_TYPE_OF.values(), start=1))
_ADD = f"""
    WITH inserted AS (
        INSERT INTO signals.usage ({", ".join(_TYPE_OF)})
        SELECT * FROM unnest({_ARRAYS})
        ON CONFLICT (event_id) DO NOTHING
        RETURNING *
    )
    {add_to_sums(sums_of("inserted"))}"""  # noqa: S608 (made of the names above)


async def apply_usage(connection: AsyncConnection, events: Sequence[UsageRecorded]) -> None:
    # Sorted, so that two workers that hold the same events never wait for each other crosswise.
    ordered = sorted(events, key=lambda event: event.event_id)
    columns = tuple([getattr(event, name) for event in ordered] for name in _TYPE_OF)
    await connection.exec_driver_sql(LOCK_FOR_ADDING)
    await connection.exec_driver_sql(_ADD, columns)
