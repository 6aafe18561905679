"""The turn, from the stored question to the stored answer (docs/spec/query-engine.md, "The turn, in order")."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any

from services.chat_api.adapters.knowledge_client import KnowledgeUnavailableError
from services.chat_api.adapters.model_faults import MODEL_FAULTS
from services.chat_api.domain.budget import cut_history, message_tokens
from services.chat_api.domain.grounding.language import detect_language
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
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from services.chat_api.domain.turn_record import RetrievalRecord, TurnSubject
from services.chat_api.use_cases.answer_call import AnswerFromPassages
from services.chat_api.use_cases.finalise_turn import FinaliseTurn
from services.chat_api.use_cases.first_call import FirstCall, ToolCallUnusableError
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from services.chat_api.use_cases.models import ModelDirectory
from services.chat_api.use_cases.start_turn import StartedTurn
from services.chat_api.use_cases.tools import RoundResult, Tool, run_tools
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_under_way import Emit, TurnUnderWay
from shared.errors import AchillesError

logger = logging.getLogger(__name__)


class KnowledgeFailedError(AchillesError):
    """No tool of the round could be asked: the turn fails, it does not say `not found`."""

    code = "knowledge_unavailable"
    retryable = True


_FAULT_TEXTS: tuple[tuple[type[Exception], TextKey], ...] = (
    (KnowledgeFailedError, "knowledge_failed"),
    (ToolCallUnusableError, "tool_call_unusable"),
    *((fault, "model_failed") for fault in MODEL_FAULTS),
)


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
    ) -> None:
        self._models = models
        self._tools = tools
        self._knowledge = knowledge
        self._finalise = finalise
        self._settings = settings
        self._now = now
        self._first_call = FirstCall(settings, now)
        self._answer_call = AnswerFromPassages(settings, now)

    async def execute(self, started: StartedTurn, emit: Emit) -> None:
        turn = TurnUnderWay(
            started=started,
            model=self._models.choose(started.selected_model),
            language=detect_language(started.message),
            emit=emit,
        )
        closing = await self._run_guarded(turn)
        turn.record.model = turn.record.runs[-1].model if turn.record.runs else turn.model.name
        await self._close(turn, closing)

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

    async def _close(self, turn: TurnUnderWay, closing: TurnFailed | TurnInterrupted | None) -> None:
        saved = await _unstoppable(self._save(turn))
        if not saved:
            closing = TurnFailed("not_saved", turn.text("not_saved"), retryable=True)
        record = turn.record
        logger.info("turn_finished", extra={"outcome": record.outcome, "saved": saved, "model": record.model})
        await turn.emit(
            closing or TurnFinished(record.outcome, record.model, record.input_tokens, record.output_tokens)
        )

    async def _save(self, turn: TurnUnderWay) -> bool:
        try:
            async with asyncio.timeout(self._settings.finalise_deadline.total_seconds()):
                return await self._finalise.execute(_subject_of(turn.started), turn.record)
        except Exception as fault:  # noqa: BLE001 (the client must hear that the answer was not saved)
            logger.error("turn_not_saved", extra={"error": type(fault).__name__})
            return False

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
        plan = await self._first_call.execute(turn, await self._offered_tools())
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
        result = await run_tools(plan.calls, self._tools, turn.started.identity)
        query = plan.calls[0].query
        turn.record.retrieval = _retrieval_of(plan.calls[0], result, self._now())
        if result.failed:
            raise KnowledgeFailedError
        left = free - sum(message_tokens(message.content) for message in turn.history)
        turn.record.passages = pack(result.candidates, left, at_most=self._settings.passages_at_most)
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


async def _unstoppable(work: Coroutine[Any, Any, bool]) -> bool:
    """The work's result, however often this task is asked to stop meanwhile: a client may leave at any moment."""
    task = asyncio.create_task(work)
    while True:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                return False
            _forget_cancellation()


def _forget_cancellation() -> None:
    """The request to stop is fulfilled by ending the turn, which must itself be able to wait."""
    current = asyncio.current_task()
    if current:
        current.uncancel()


def _failure(turn: TurnUnderWay, fault: Exception) -> TurnFailed:
    for kind, key in _FAULT_TEXTS:
        if isinstance(fault, kind) and isinstance(fault, AchillesError):
            logger.warning("turn_failed", extra={"code": fault.code})
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
        user_id=started.identity.user_id,
        department=started.identity.department,
    )
