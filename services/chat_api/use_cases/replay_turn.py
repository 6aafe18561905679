"""A turn that was answered before, told again from what is stored."""

from collections.abc import AsyncGenerator

from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.texts import text_for
from services.chat_api.domain.turn_events import (
    AnswerDelta,
    HintGiven,
    SourcesCited,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from services.chat_api.storage.conversations import Message


async def replayed_events(message: Message) -> AsyncGenerator[TurnEvent, None]:
    """The same events as the first time, in one go and without a model call."""
    yield TurnStarted(message.id, message.conversation_id, message.model or "")
    if message.content:
        yield AnswerDelta(message.content)
    if message.citations:
        yield SourcesCited(message.citations)
    if message.hint:
        yield HintGiven(message.hint)
    yield _closing(message)


def _closing(message: Message) -> TurnEvent:
    if message.outcome == "interrupted":
        return TurnInterrupted()
    if message.outcome == "failed" or message.outcome is None:
        return TurnFailed("failed_earlier", text_for("internal", detect_language(message.content)), retryable=True)
    # The parts of the sum are in the usage events; what is stored with the message is the sum.
    return TurnFinished(message.outcome, message.model or "", message.tokens_used or 0, 0)
