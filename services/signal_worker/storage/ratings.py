"""Ratings: applied in place, and only if newer than what stands there."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import or_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from shared.database.tables.chat import messages
from shared.events import AnswerRated


async def apply_ratings(connection: AsyncConnection, events: Sequence[AnswerRated]) -> None:
    newest: dict[UUID, AnswerRated] = {}
    for event in sorted(events, key=lambda rating: rating.revision):
        newest[event.message_id] = event
    for message_id in sorted(newest):
        rating = newest[message_id]
        await connection.execute(
            update(messages)
            .where(
                messages.c.id == message_id,
                or_(messages.c.feedback_revision.is_(None), messages.c.feedback_revision < rating.revision),
            )
            .values(feedback=rating.value, feedback_revision=rating.revision)
        )
