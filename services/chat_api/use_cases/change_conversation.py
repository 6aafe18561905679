"""Rename one's own conversation, or select the model of its next answers."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.conversations import Conversation, ConversationChange, change_conversation
from services.chat_api.use_cases.errors import NotFoundError
from services.chat_api.use_cases.models import ModelDirectory


class ChangeConversation:
    def __init__(self, engine: AsyncEngine, models: ModelDirectory, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._models = models
        self._now = now

    async def execute(self, caller: Caller, conversation_id: UUID, change: ConversationChange) -> Conversation:
        """Answers that stand already keep their model. Raises ModelNotAllowedError or NotFoundError."""
        if change.selection and change.selection.model is not None:
            self._models.check_allowed(change.selection.model)
        async with self._engine.begin() as connection:
            changed = await change_conversation(connection, conversation_id, caller.owner_id, change, self._now())
        if changed is None:
            raise NotFoundError
        return changed
