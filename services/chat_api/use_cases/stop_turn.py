"""Stop one's own running turn, on whichever front it runs."""

import logging
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.storage.turns import find_turn
from services.chat_api.use_cases.errors import NotFoundError
from services.chat_api.use_cases.running_turns import RunningTurns
from shared.identity import Identity

STOP_CHANNEL = "achilles_stop"
logger = logging.getLogger(__name__)


class StopTurn:
    def __init__(self, engine: AsyncEngine, running: RunningTurns) -> None:
        self._engine = engine
        self._running = running

    async def execute(self, identity: Identity, message_id: UUID) -> None:
        """Returns when the request is on its way; a turn that has ended stays as it is. Raises NotFoundError."""
        async with self._engine.begin() as connection:
            turn = await find_turn(connection, message_id, identity.user_id)
            if turn is None:
                raise NotFoundError
            if turn.running and not self._running.stop(message_id):
                await connection.execute(
                    text("SELECT pg_notify(:channel, :id)"), {"channel": STOP_CHANNEL, "id": str(message_id)}
                )

    def on_notification(self, payload: str) -> None:
        """Another front was asked to stop a turn that may run here."""
        try:
            self._running.stop(UUID(payload))
        except ValueError:
            logger.warning("stop_notification_unreadable")
