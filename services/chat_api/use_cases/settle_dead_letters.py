"""Events that could not be applied: what an administrator can do with them."""

import logging
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.storage.dead_letters import list_dead_letters
from services.chat_api.storage.keyset import Page, PageRequest
from services.chat_api.use_cases.errors import NotFoundError, ReplayRefusedError
from shared.messaging.dead_letters import DeadLetters, StoredDeadLetter

logger = logging.getLogger(__name__)


class SettleDeadLetters:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._letters = DeadLetters(engine)

    async def list(self, page: PageRequest) -> Page[StoredDeadLetter]:
        """Raises BadCursorError."""
        async with self._engine.connect() as connection:
            return await list_dead_letters(connection, page)

    async def find(self, letter_id: UUID) -> StoredDeadLetter:
        """Raises NotFoundError."""
        letter = await self._letters.find(letter_id)
        if letter is None:
            raise NotFoundError
        return letter

    async def replay(self, letter_id: UUID) -> None:
        """Returns once the event is back in the ledger. Raises NotFoundError or ReplayRefusedError."""
        report = await self._letters.replay([letter_id])
        if report.refused:
            raise ReplayRefusedError(f"It stays a dead letter: {report.refused[0][1]}.")
        if not report.replayed:
            raise NotFoundError
        logger.info("dead_letter_replayed", extra={"letter_id": str(letter_id)})

    async def discard(self, letter_id: UUID) -> None:
        """For good. Raises NotFoundError."""
        if not await self._letters.discard([letter_id]):
            raise NotFoundError
        logger.info("dead_letter_discarded", extra={"letter_id": str(letter_id)})
