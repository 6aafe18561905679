"""A person's own conversations."""

import unicodedata
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.chat_api.domain.caller import Caller
from services.chat_api.storage.conversations import (
    Conversation,
    Message,
    find_conversation,
    list_conversations,
    list_messages,
)
from services.chat_api.storage.keyset import Page, PageRequest
from services.chat_api.storage.turns import find_running
from services.chat_api.use_cases.errors import NotFoundError

# What a reader has in sight first; older messages are paged.
_NEWEST_MESSAGES = PageRequest(limit=100, order="desc")
_WORDS_AT_MOST = 10


@dataclass(frozen=True, slots=True)
class ConversationThread:
    """The newest messages in order, and whether there are older ones. `running_message_id` names the answer that is
    being written now, if there is one."""

    conversation: Conversation
    messages: tuple[Message, ...]
    has_more: bool
    running_message_id: UUID | None


class ReadConversations:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list(self, caller: Caller, page: PageRequest, search: str = "") -> Page[Conversation]:
        """With a search only conversations that hold each of its words, as parts of words too. Raises
        BadCursorError."""
        words = unicodedata.normalize("NFC", search).split()[:_WORDS_AT_MOST]
        async with self._engine.connect() as connection:
            return await list_conversations(connection, caller.owner_id, words, page)

    async def thread(self, caller: Caller, conversation_id: UUID) -> ConversationThread:
        """Raises NotFoundError for an unknown conversation and for somebody else's alike."""
        async with self._engine.connect() as connection:
            conversation = await _own(connection, caller, conversation_id)
            # First what runs: a turn that ends in between is then shown twice rather than not at all.
            running = await find_running(connection, conversation_id)
            newest = await list_messages(connection, conversation_id, _NEWEST_MESSAGES)
        return ConversationThread(
            conversation, newest.items[::-1], newest.has_more, running.message_id if running else None
        )

    async def messages(self, caller: Caller, conversation_id: UUID, page: PageRequest) -> Page[Message]:
        """Raises NotFoundError or BadCursorError."""
        async with self._engine.connect() as connection:
            await _own(connection, caller, conversation_id)
            return await list_messages(connection, conversation_id, page)


async def _own(connection: AsyncConnection, caller: Caller, conversation_id: UUID) -> Conversation:
    found = await find_conversation(connection, conversation_id, caller.owner_id)
    if found is None:
        raise NotFoundError
    return found
