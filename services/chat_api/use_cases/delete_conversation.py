"""Delete one's own conversation with its messages and traces. Usage stays: what was spent was spent."""

import asyncio
import time
from datetime import timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.conversations import delete_conversation, lock_conversation
from services.chat_api.storage.turns import find_running
from services.chat_api.use_cases.errors import NotFoundError, TurnRunningError
from services.chat_api.use_cases.stop_turn import StopTurn

_LOOK_EVERY_SECONDS = 0.05


class DeleteConversation:
    def __init__(self, engine: AsyncEngine, stop_turn: StopTurn, *, patience: timedelta = timedelta(seconds=5)) -> None:
        self._engine = engine
        self._stop_turn = stop_turn
        self._patience = patience

    async def execute(self, caller: Caller, conversation_id: UUID) -> None:
        """A running turn is stopped first and stores itself, so that its usage is counted. Raises NotFoundError, or
        TurnRunningError if it does not end in time: then nothing is deleted."""
        deadline = time.monotonic() + self._patience.total_seconds()
        stopped: UUID | None = None
        while (running := await self._delete_idle(caller, conversation_id)) is not None:
            if time.monotonic() > deadline:
                raise TurnRunningError(running)
            if running != stopped:
                await self._stop_turn.execute(caller, running)
                stopped = running
            await asyncio.sleep(_LOOK_EVERY_SECONDS)

    async def _delete_idle(self, caller: Caller, conversation_id: UUID) -> UUID | None:
        """The turn that runs there, or None: then the conversation is gone."""
        async with self._engine.begin() as connection:
            if not await lock_conversation(connection, conversation_id, caller.owner_id):
                raise NotFoundError
            running = await find_running(connection, conversation_id)
            if running is None:
                await delete_conversation(connection, conversation_id)
            return running.message_id if running else None
