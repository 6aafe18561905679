"""Rate an answer. The front gives the revision and the event; the worker writes the rating."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.conversations import find_message
from services.chat_api.use_cases.errors import NotFoundError
from services.chat_api.use_cases.finalise_turn import EVENT_SOURCE
from shared.database.tables.chat import feedback_revision
from shared.events import AnswerRated
from shared.messaging.outbox import enqueue

Rating = Literal[-1, 1]


class RateMessage:
    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._now = now

    async def execute(self, caller: Caller, message_id: UUID, value: Rating | None) -> int:
        """Returns the revision of this rating. Raises NotFoundError, also for a message that is no answer."""
        async with self._engine.begin() as connection:
            message = await find_message(connection, message_id, caller.owner_id)
            if message is None or message.role != "assistant":
                raise NotFoundError
            revision = (await connection.execute(select(feedback_revision.next_value()))).scalar_one()
            rated = AnswerRated(
                occurred_at=self._now(),
                message_id=message_id,
                conversation_id=message.conversation_id,
                value=value,
                revision=revision,
            )
            await enqueue(connection, [rated], source=EVENT_SOURCE)
        return revision
