"""A turn that was answered before, told again from what is stored."""

from collections.abc import AsyncGenerator

from services.chat_api.domain.grounding.language import Language
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


async def replayed_events(message: Message, language: Language) -> AsyncGenerator[TurnEvent, None]:
    """What the first time told, in one go and without a model call; the stages on the way are left out."""
    yield TurnStarted(message.id, message.conversation_id, message.model or "")
    for notice in message.notices:
        yield notice
    if message.content:
        yield AnswerDelta(message.content)
    if message.citations:
        yield SourcesCited(message.citations)
    if message.hint:
        yield HintGiven(message.hint)
    yield _closing(message, language)


def _closing(message: Message, language: Language) -> TurnEvent:
    if message.outcome == "interrupted":
        return TurnInterrupted()
    if message.outcome == "failed" or message.outcome is None:
        # The same message can only be told again, so trying it again is of no use.
        return TurnFailed("failed_earlier", text_for("failed_earlier", language), retryable=False)
    return TurnFinished(message.outcome, message.model or "", message.tokens_used or 0, usage=None)
