"""The end of a turn: stored whatever happens to its client, now or a little later, and told once it is."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from services.chat_api.domain.turn_events import TokenUsage, TurnFailed, TurnFinished, TurnInterrupted
from services.chat_api.domain.turn_record import TurnRecord, TurnSubject
from services.chat_api.use_cases.finalise_turn import FinaliseTurn
from services.chat_api.use_cases.start_turn import StartedTurn
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_under_way import TurnUnderWay

logger = logging.getLogger(__name__)
_SAVE_AGAIN_SECONDS = 2.0
Saving = Literal["saved", "ended_elsewhere", "fault"]


@dataclass(frozen=True, slots=True)
class UnsavedTurn:
    """A turn that has ended and could not be stored yet."""

    subject: TurnSubject
    record: TurnRecord


class CloseTurn:
    def __init__(self, finalise: FinaliseTurn, settings: TurnSettings) -> None:
        self._finalise = finalise
        self._deadline: timedelta = settings.finalise_deadline
        self._keep_trying: timedelta = settings.hard_deadline

    async def execute(self, turn: TurnUnderWay, closing: TurnFailed | TurnInterrupted | None) -> UnsavedTurn | None:
        """Tells `closing`, or None the turn's own outcome. Returns the turn if it could not be stored."""
        subject = _subject_of(turn.started)
        saved = await _unstoppable(self._save(subject, turn.record))
        if saved != "saved":
            closing = TurnFailed("not_saved", turn.text("not_saved"), retryable=True)
        record = turn.record
        logger.info("turn_finished", extra={"outcome": record.outcome, "saved": saved, "model": record.model})
        usage = TokenUsage(record.input_tokens, record.output_tokens)
        tokens = usage.input_tokens + usage.output_tokens
        await turn.emit(closing or TurnFinished(record.outcome, record.model, tokens, usage))
        return UnsavedTurn(subject, record) if saved == "fault" else None

    async def save_later(self, unsaved: UnsavedTurn) -> None:
        """Try until it is stored or its lease is over; then the same client message is replayed, not asked again."""
        deadline = time.monotonic() + self._keep_trying.total_seconds()
        while time.monotonic() < deadline:
            await asyncio.sleep(_SAVE_AGAIN_SECONDS)
            if await _unstoppable(self._save(unsaved.subject, unsaved.record)) != "fault":
                return

    async def _save(self, subject: TurnSubject, record: TurnRecord) -> Saving:
        try:
            async with asyncio.timeout(self._deadline.total_seconds()):
                return "saved" if await self._finalise.execute(subject, record) else "ended_elsewhere"
        except Exception as fault:  # noqa: BLE001 (the client must hear that the answer was not saved)
            logger.error("turn_not_saved", extra={"error": type(fault).__name__})
            return "fault"


async def _unstoppable(work: Coroutine[Any, Any, Saving]) -> Saving:
    """The work's result, however often this task is asked to stop meanwhile: a client may leave at any moment."""
    task = asyncio.create_task(work)
    while True:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                return "fault"
            forget_cancellation()


def forget_cancellation() -> None:
    """The request to stop is fulfilled by ending the turn, which must itself be able to wait."""
    current = asyncio.current_task()
    if current:
        current.uncancel()


def _subject_of(started: StartedTurn) -> TurnSubject:
    return TurnSubject(
        message_id=started.message_id,
        conversation_id=started.conversation_id,
        owner_id=started.caller.owner_id,
        department=started.caller.department,
    )
