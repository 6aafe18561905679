"""Open a turn: the one short transaction before the stream begins."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.budget import Window, message_tokens
from services.chat_api.domain.caller import Caller
from services.chat_api.domain.grounding.language import Language, recognise_language
from services.chat_api.domain.model_call import ModelMessage
from services.chat_api.domain.prompts import answer_prompt
from services.chat_api.domain.runtime_rules import RuntimeRules
from services.chat_api.storage.conversations import Message, find_message
from services.chat_api.storage.turn_opening import (
    ClientMessageKnownError,
    ConversationBusyError,
    NewTurn,
    Thread,
    add_thread,
    find_by_client_message,
    find_thread,
    open_turn,
)
from services.chat_api.storage.turns import StoredTurn, find_running
from services.chat_api.use_cases.errors import (
    ConversationContendedError,
    EmptyMessageError,
    MessageTooLargeError,
    NotFoundError,
    TurnRunningError,
)
from services.chat_api.use_cases.models import ModelDirectory
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from services.chat_api.use_cases.turn_limits import TurnLimits
from shared.database.driver import Driver, driver_connection

_TITLE_CHARS = 80
_HISTORY_ROWS = 200
_LOOKS = 3
# Beside the message and the prompt a passage must still fit, or it could never be answered.
_LEAST_ROOM = 768


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """What the client sent. Without a conversation id a new conversation is created by this message. Our own sentences
    come in the language of the message, else in the preferred one.

    `opens` is an id made from the client's own name of its thread: that thread is continued, or opened under this id.
    `told` is what a client says was said before; it is only looked at where nothing is stored. `instructions` of its
    chat program stand in front of either. `model` is selected on a new conversation, `answer_with` rules this turn
    alone."""

    message: str
    caller: Caller
    conversation_id: UUID | None = None
    client_message_id: str | None = None
    model: str | None = None
    preferred_language: Language = "en"
    opens: UUID | None = None
    instructions: tuple[ModelMessage, ...] = ()
    told: tuple[ModelMessage, ...] = ()
    answer_with: str | None = None

    @property
    def language(self) -> Language:
        return recognise_language(self.message) or self.preferred_language


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A turn whose user message is stored and that must be ended by exactly one outcome."""

    message_id: UUID
    conversation_id: UUID
    caller: Caller
    message: str
    language: Language
    selected_model: str | None
    history: tuple[ModelMessage, ...]
    rules: RuntimeRules


@dataclass(frozen=True, slots=True)
class FinishedEarlier:
    """The same client message was answered before: what is stored is replayed."""

    message: Message
    language: Language


class StartTurn:
    def __init__(
        self,
        engine: AsyncEngine,
        models: ModelDirectory,
        window: Window,
        limits: TurnLimits,
        runtime: RuntimeSettings,
        *,
        lease: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        self._engine = engine
        self._models = models
        self._window = window
        self._limits = limits
        self._runtime = runtime
        self._lease = lease
        self._now = now

    async def execute(self, command: ChatCommand) -> StartedTurn | FinishedEarlier:
        """Raises EmptyMessageError, MessageTooLargeError, ModelNotAllowedError, NotFoundError, TurnRunningError,
        TooManyTurnsError or TooManyStreamsError."""
        self._check(command)
        for _ in range(_LOOKS):
            try:
                return await self._open(command)
            except ClientMessageKnownError:
                # The same message arrived twice at once: the next look finds the first one's turn.
                continue
            except ConversationBusyError:
                running = await self._running(command)
                if running:
                    raise TurnRunningError(running.message_id) from None
                # It ended in between, so there is room now.
        raise ConversationContendedError

    def _check(self, command: ChatCommand) -> None:
        if not command.message.strip():
            raise EmptyMessageError
        for name in (command.model, command.answer_with):
            if name is not None:
                self._models.check_allowed(name)

    def _check_size(self, message: str, selected_model: str | None) -> None:
        count = self._models.choose(selected_model).count_tokens
        prompt = answer_prompt(self._runtime.current.platform_prompt).static_text
        room = self._window.free_after(message_tokens(prompt, count) + _LEAST_ROOM)
        if message_tokens(message, count) > room:
            raise MessageTooLargeError("Shorten the message, or split it into several.")

    async def _open(self, command: ChatCommand) -> StartedTurn | FinishedEarlier:
        async with driver_connection(self._engine) as connection, connection.transaction():
            if command.client_message_id:
                known = await find_by_client_message(connection, command.caller.owner_id, command.client_message_id)
                if known:
                    return await self._earlier(known, command)
            await self._limits.check(connection, command.caller.owner_id, self._now())
            conversation = await self._conversation(connection, command)
            self._check_size(command.message, command.answer_with or conversation.selected_model)
            turn = self._new_turn(command, conversation.id)
            opened = await open_turn(connection, turn, history_rows=_HISTORY_ROWS)
        # A change that another front made is seen here at the latest, so it rules this turn already.
        await self._runtime.be_at(opened.settings_version)
        return StartedTurn(
            message_id=turn.message_id,
            conversation_id=conversation.id,
            caller=command.caller,
            message=command.message,
            language=command.language,
            selected_model=command.answer_with or conversation.selected_model,
            history=(*command.instructions, *(opened.history or command.told)),
            rules=self._runtime.current,
        )

    async def _earlier(self, known: StoredTurn, command: ChatCommand) -> FinishedEarlier:
        if known.running:
            raise TurnRunningError(known.message_id)
        async with self._engine.connect() as connection:
            message = await find_message(connection, known.message_id, command.caller.owner_id)
        if message is None:
            raise NotFoundError
        return FinishedEarlier(message, command.language)

    async def _conversation(self, connection: Driver, command: ChatCommand) -> Thread:
        owner_id = command.caller.owner_id
        if command.conversation_id is not None:
            found = await find_thread(connection, command.conversation_id, owner_id)
            if found is None:
                raise NotFoundError
            return found
        new_id = command.opens or uuid4()
        opened = await find_thread(connection, new_id, owner_id) if command.opens else None
        if opened is not None:
            if any(message.role == "assistant" for message in command.told):
                return opened
            # It knows nothing of what was said in this thread: a title, tags and the like, asked beside it.
            new_id = uuid4()
        created = Thread(new_id, command.model)
        title = " ".join(command.message.split())[:_TITLE_CHARS]
        await add_thread(connection, created, owner_id, title=title, now=self._now())
        return created

    def _new_turn(self, command: ChatCommand, conversation_id: UUID) -> NewTurn:
        return NewTurn(
            message_id=uuid4(),
            task_id=uuid4(),
            conversation_id=conversation_id,
            user_message_id=uuid4(),
            owner_id=command.caller.owner_id,
            client_message_id=command.client_message_id or str(uuid4()),
            message=command.message,
            started_at=self._now(),
            lease=self._lease,
        )

    async def _running(self, command: ChatCommand) -> StoredTurn | None:
        conversation_id = command.conversation_id or command.opens
        if conversation_id is None:
            return None
        async with self._engine.connect() as connection:
            return await find_running(connection, conversation_id)
