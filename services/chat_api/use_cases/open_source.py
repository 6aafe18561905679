"""Open a source that an answer cites: the click is a signal, and the answer is the link."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.domain.citations import Citation
from services.chat_api.storage.conversations import find_message
from services.chat_api.use_cases.errors import NotFoundError, SourceNotCitedError
from services.chat_api.use_cases.finalise_turn import EVENT_SOURCE
from shared.events import SourceAccessed
from shared.messaging.outbox import enqueue


class OpenSource:
    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._now = now

    async def execute(self, caller: Caller, message_id: UUID, n: int, click_id: str) -> Citation:
        """Raises NotFoundError for a message that is not one's own, SourceNotCitedError for a number not in it."""
        async with self._engine.begin() as connection:
            message = await find_message(connection, message_id, caller.owner_id)
            if message is None:
                raise NotFoundError
            citation = next((one for one in message.citations if one.n == n), None)
            if citation is None:
                raise SourceNotCitedError
            if citation.origin == "web":
                # No store knows the page, so nobody could use the signal.
                return citation
            clicked = SourceAccessed(
                occurred_at=self._now(),
                message_id=message_id,
                conversation_id=message.conversation_id,
                record_id=citation.record_id,
                source_system=citation.source_system,
                kind="clicked",
                click_id=click_id,
            )
            await enqueue(connection, [clicked], source=EVENT_SOURCE)
        return citation
