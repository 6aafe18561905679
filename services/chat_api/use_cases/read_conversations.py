"""A person's own conversations."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.conversations import (
    Conversation,
    Message,
    find_conversation,
    list_conversations,
    read_messages,
)
from services.chat_api.storage.keyset import BadCursorError, Page, PageRequest
from services.chat_api.storage.turns import find_running
from services.chat_api.use_cases.errors import BadCursorRequestError, NotFoundError


@dataclass(frozen=True, slots=True)
class ConversationThread:
    """`running_message_id` names the answer that is being written now, if there is one."""

    conversation: Conversation
    messages: tuple[Message, ...]
    running_message_id: UUID | None


class ReadConversations:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list(self, caller: Caller, page: PageRequest) -> Page[Conversation]:
        """Raises BadCursorRequestError."""
        async with self._engine.connect() as connection:
            try:
                return await list_conversations(connection, caller.owner_id, page)
            except BadCursorError:
                raise BadCursorRequestError from None

    async def thread(self, caller: Caller, conversation_id: UUID) -> ConversationThread:
        """Raises NotFoundError for an unknown conversation and for somebody else's alike."""
        async with self._engine.connect() as connection:
            conversation = await find_conversation(connection, conversation_id, caller.owner_id)
            if conversation is None:
                raise NotFoundError
            # First what runs: a turn that ends in between is then shown twice rather than not at all.
            running = await find_running(connection, conversation_id)
            messages = await read_messages(connection, conversation_id)
        return ConversationThread(conversation, tuple(messages), running.message_id if running else None)
