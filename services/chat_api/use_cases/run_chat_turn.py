"""The turn, from the stored question to the stored answer (docs/spec/query-engine.md, "The turn, in order")."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from services.chat_api.adapters.knowledge_client import KnowledgeUnavailableError
from services.chat_api.adapters.model_faults import MODEL_FAULTS, ModelBusyError, ModelRefusedError
from services.chat_api.domain.budget import cut_history, message_tokens
from services.chat_api.domain.hint import make_hint
from services.chat_api.domain.model_call import ModelMessage
from services.chat_api.domain.outcome import outcome_of_evidence
from services.chat_api.domain.packing import pack
from services.chat_api.domain.prompts import answer_prompt
from services.chat_api.domain.texts import TextKey
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, PlannedCall, RoundPlan
from services.chat_api.domain.turn_events import (
    HintGiven,
    Notice,
    StageReached,
    TokenUsage,
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from services.chat_api.domain.turn_record import RetrievalRecord, TurnRecord, TurnSubject
from services.chat_api.use_cases.answer_call import AnswerFromPassages
from services.chat_api.use_cases.finalise_turn import FinaliseTurn
from services.chat_api.use_cases.first_call import FirstCall, ToolCallUnusableError
from services.chat_api.use_cases.judged_release import Judging
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from services.chat_api.use_cases.models import ModelDirectory
from services.chat_api.use_cases.start_turn import StartedTurn
from services.chat_api.use_cases.tools import RoundResult, Tool, run_tools
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_under_way import Emit, TurnUnderWay
from shared.errors import AchillesError

logger = logging.getLogger(__name__)
_SAVE_AGAIN_SECONDS = 2.0


class KnowledgeFailedError(AchillesError):
    """No tool of the round could be asked: the turn fails, it does not say `not found`."""

    code = "knowledge_unavailable"
    retryable = True


class PassagesDoNotFitError(AchillesError):
    """Something was found, and message and history leave no room for it. That is not the same as nothing found."""

    code = "message_too_large"


_FAULT_TEXTS: tuple[tuple[type[Exception], TextKey], ...] = (
    (KnowledgeFailedError, "knowledge_failed"),
    (PassagesDoNotFitError, "too_long"),
    (ToolCallUnusableError, "tool_call_unusable"),
    (ModelRefusedError, "model_refused"),
    (ModelBusyError, "model_busy"),
    *((fault, "model_failed") for fault in MODEL_FAULTS),
)


Saving = Literal["saved", "ended_elsewhere", "fault"]


@dataclass(frozen=True, slots=True)
class UnsavedTurn:
    """A turn that has ended and could not be stored yet."""

    subject: TurnSubject
    record: TurnRecord


class RunChatTurn:
    """Runs in a task of its own and always ends the turn, whatever happens on the way."""

    def __init__(
        self,
        models: ModelDirectory,
        tools: Mapping[str, Tool],
        knowledge: KnowledgeState,
        finalise: FinaliseTurn,
        settings: TurnSettings,
        now: Callable[[], datetime],
        judging: Judging | None = None,
    ) -> None:
        self._models = models
        self._tools = tools
        self._knowledge = knowledge
        self._finalise = finalise
        self._settings = settings
        self._now = now
        self._first_call = FirstCall(settings, now)
        self._answer_call = AnswerFromPassages(settings, now, judging)

    async def execute(self, started: StartedTurn, emit: Emit) -> UnsavedTurn | None:
        """Returns the turn if it could not be stored: hand it to `save_later`, or it stays unended until its lease."""
        turn = TurnUnderWay(
            started=started,
            model=self._models.choose(started.selected_model),
            language=started.language,
            emit=emit,
        )
        closing = await self._run_guarded(turn)
        turn.record.model = turn.record.answered_by or turn.model.name
        return await self._close(turn, closing)

    async def save_later(self, unsaved: UnsavedTurn) -> None:
        """Try until it is stored or its lease is over; then the same client message is replayed, not asked again."""
        deadline = time.monotonic() + self._settings.hard_deadline.total_seconds()
        while time.monotonic() < deadline:
            await asyncio.sleep(_SAVE_AGAIN_SECONDS)
            if await _unstoppable(self._save(unsaved.subject, unsaved.record)) != "fault":
                return

    async def _run_guarded(self, turn: TurnUnderWay) -> TurnFailed | TurnInterrupted | None:
        """None when the turn came to an outcome of its own."""
        try:
            async with asyncio.timeout(self._settings.hard_deadline.total_seconds()):
                await self._run(turn)
        except asyncio.CancelledError:
            _forget_cancellation()
            turn.record.outcome = "interrupted"
            return TurnInterrupted()
        except TimeoutError:
            turn.record.outcome = "failed"
            return TurnFailed("turn_timeout", turn.text("turn_timeout"), retryable=True)
        except Exception as fault:  # noqa: BLE001 (a turn never ends without an outcome)
            turn.record.outcome = "failed"
            return _failure(turn, fault)
        return None

    async def _close(self, turn: TurnUnderWay, closing: TurnFailed | TurnInterrupted | None) -> UnsavedTurn | None:
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

    async def _save(self, subject: TurnSubject, record: TurnRecord) -> Saving:
        try:
            async with asyncio.timeout(self._settings.finalise_deadline.total_seconds()):
                return "saved" if await self._finalise.execute(subject, record) else "ended_elsewhere"
        except Exception as fault:  # noqa: BLE001 (the client must hear that the answer was not saved)
            logger.error("turn_not_saved", extra={"error": type(fault).__name__})
            return "fault"

    async def _run(self, turn: TurnUnderWay) -> None:
        started = turn.started
        await turn.emit(TurnStarted(started.message_id, started.conversation_id, turn.model.name))
        if turn.model.replaced:
            await turn.emit(Notice("model_replaced", turn.text("notice_model_replaced")))
        await turn.emit(StageReached("reading"))
        fixed = message_tokens(started.message) + message_tokens(
            answer_prompt(self._settings.platform_prompt).static_text
        )
        free = self._settings.window.free_after(fixed)
        turn.history = _history(started, round(free * self._settings.window.history_share))
        try:
            plan = await self._first_call.execute(turn, await self._offered_tools())
        except ToolCallUnusableError as fault:
            turn.record.retrieval = RetrievalRecord("", "failed", self._now(), fault=fault.code)
            raise
        if plan is None:
            turn.record.outcome = "conversational"
            return
        await self._ground(turn, plan, free)

    async def _offered_tools(self) -> Mapping[str, Tool]:
        """All but the knowledge search of an empty store. A store that cannot be asked is not an empty one."""
        try:
            status = await self._knowledge.current()
        except KnowledgeUnavailableError:
            return self._tools
        if not status.is_empty:
            return self._tools
        return {name: tool for name, tool in self._tools.items() if name != SEARCH_KNOWLEDGE}

    async def _ground(self, turn: TurnUnderWay, plan: RoundPlan, free: int) -> None:
        await turn.emit(StageReached("searching"))
        result = await run_tools(plan.calls, self._tools, turn.started.caller.identity)
        query = plan.calls[0].query
        turn.record.retrieval = _retrieval_of(plan.calls[0], result, self._now())
        if result.failed:
            raise KnowledgeFailedError
        left = free - sum(message_tokens(message.content) for message in turn.history)
        turn.record.passages = pack(result.candidates, left, at_most=self._settings.passages_at_most)
        if result.candidates and not turn.record.passages:
            raise PassagesDoNotFitError
        answered = False
        if turn.record.passages:
            await turn.emit(StageReached("answering"))
            if turn.model.client.provider == "embedded":
                await turn.emit(Notice("quoted", turn.text("notice_quoted")))
            answered = await self._answer_call.execute(turn, query)
        turn.record.outcome = outcome_of_evidence(result.evidence, answered=answered)
        await self._say_what_is_missing(turn, result)

    async def _say_what_is_missing(self, turn: TurnUnderWay, result: RoundResult) -> None:
        if turn.record.outcome == "not_found":
            await turn.release(turn.text("unsupported" if turn.record.passages else "not_found"))
        if result.withheld:
            turn.record.hint = make_hint(result.withheld, turn.language)
            if turn.record.outcome == "withheld":
                await turn.release(turn.record.hint.text)
            await turn.emit(HintGiven(turn.record.hint))


async def _unstoppable(work: Coroutine[Any, Any, Saving]) -> Saving:
    """The work's result, however often this task is asked to stop meanwhile: a client may leave at any moment."""
    task = asyncio.create_task(work)
    while True:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                return "fault"
            _forget_cancellation()


def _forget_cancellation() -> None:
    """The request to stop is fulfilled by ending the turn, which must itself be able to wait."""
    current = asyncio.current_task()
    if current:
        current.uncancel()


def _failure(turn: TurnUnderWay, fault: Exception) -> TurnFailed:
    for kind, key in _FAULT_TEXTS:
        if isinstance(fault, kind) and isinstance(fault, AchillesError):
            logger.warning("turn_failed", extra={"code": fault.code, "detail": fault.detail})
            return TurnFailed(fault.code, turn.text(key), fault.retryable)
    logger.error("turn_failed", extra={"code": "internal"}, exc_info=fault)
    return TurnFailed("internal", turn.text("internal"), retryable=True)


def _history(started: StartedTurn, budget: int) -> tuple[ModelMessage, ...]:
    told = [ModelMessage(message.role, message.content) for message in started.history if message.content]
    return cut_history(told, budget)


def _retrieval_of(call: PlannedCall, result: RoundResult, at: datetime) -> RetrievalRecord:
    first = result.results[0]
    return RetrievalRecord(
        query=call.query,
        outcome="failed" if result.failed else result.evidence,
        at=at,
        store_id=first.store_id,
        knowledge_version=first.knowledge_version,
        cache_hit=first.cache_hit,
        fault=first.fault,
        candidates=result.candidates,
        search_ms=first.elapsed_ms,
    )


def _subject_of(started: StartedTurn) -> TurnSubject:
    return TurnSubject(
        message_id=started.message_id,
        conversation_id=started.conversation_id,
        owner_id=started.caller.owner_id,
        department=started.caller.department,
    )
