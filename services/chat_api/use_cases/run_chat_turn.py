"""The turn, from the stored question to the stored answer (docs/spec/query-engine.md, "The turn, in order")."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from services.chat_api.adapters.knowledge_client import KnowledgeUnavailableError
from services.chat_api.domain.budget import cut_history, message_tokens
from services.chat_api.domain.model_call import ModelMessage
from services.chat_api.domain.prompts import answer_prompt
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE
from services.chat_api.domain.turn_events import StageReached, TurnFailed, TurnInterrupted, TurnStarted
from services.chat_api.domain.turn_record import RetrievalRecord
from services.chat_api.use_cases.close_turn import CloseTurn, UnsavedTurn, forget_cancellation
from services.chat_api.use_cases.finalise_turn import FinaliseTurn
from services.chat_api.use_cases.first_call import FirstCall, ToolCallUnusableError
from services.chat_api.use_cases.ground_turn import GroundTurn
from services.chat_api.use_cases.judged_release import Judging
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from services.chat_api.use_cases.models import ModelDirectory
from services.chat_api.use_cases.start_turn import StartedTurn
from services.chat_api.use_cases.tool_directory import ToolDirectory
from services.chat_api.use_cases.tools import Tool
from services.chat_api.use_cases.turn_faults import failure_of
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_spans import note_turn, turn_span
from services.chat_api.use_cases.turn_under_way import Emit, TurnUnderWay


class RunChatTurn:
    """Runs in a task of its own and always ends the turn, whatever happens on the way."""

    def __init__(
        self,
        models: ModelDirectory,
        tools: ToolDirectory,
        knowledge: KnowledgeState,
        finalise: FinaliseTurn,
        settings: TurnSettings,
        now: Callable[[], datetime],
        judging: Judging | None = None,
    ) -> None:
        self._models = models
        self._tools = tools
        self._knowledge = knowledge
        self._settings = settings
        self._now = now
        self._first_call = FirstCall(settings, now)
        self._ground_turn = GroundTurn(settings, now, judging)
        self._close_turn = CloseTurn(finalise, settings)

    async def execute(self, started: StartedTurn, emit: Emit) -> UnsavedTurn | None:
        """Returns the turn if it could not be stored: hand it to `save_later`, or it stays unended until its lease."""
        turn = TurnUnderWay(
            started=started,
            model=self._models.choose(started.selected_model),
            language=started.language,
            emit=emit,
        )
        with turn_span(started) as opened:
            closing = await self._run_guarded(turn)
            turn.record.model = turn.record.answered_by or turn.model.name
            unsaved = await self._close_turn.execute(turn, closing)
            fault = closing.code if isinstance(closing, TurnFailed) else "not_saved" if unsaved else None
            note_turn(opened, turn, fault)
        return unsaved

    async def save_later(self, unsaved: UnsavedTurn) -> None:
        await self._close_turn.save_later(unsaved)

    async def _run_guarded(self, turn: TurnUnderWay) -> TurnFailed | TurnInterrupted | None:
        """None when the turn came to an outcome of its own."""
        try:
            async with asyncio.timeout(self._settings.hard_deadline.total_seconds()):
                await self._run(turn)
        except asyncio.CancelledError:
            forget_cancellation()
            turn.record.outcome = "interrupted"
            return TurnInterrupted()
        except TimeoutError:
            turn.record.outcome = "failed"
            return TurnFailed("turn_timeout", turn.text("turn_timeout"), retryable=True)
        except Exception as fault:  # noqa: BLE001 (a turn never ends without an outcome)
            turn.record.outcome = "failed"
            return failure_of(turn, fault)
        return None

    async def _run(self, turn: TurnUnderWay) -> None:
        started = turn.started
        await turn.emit(TurnStarted(started.message_id, started.conversation_id, turn.model.name))
        if turn.model.replaced:
            await turn.give_notice("model_replaced", "notice_model_replaced")
        await turn.emit(StageReached("reading"))
        free = self._free_tokens(turn)
        turn.history = _history(turn, round(free * self._settings.window.history_share))
        tools = await self._offered_tools(turn)
        try:
            plan = await self._first_call.execute(turn, tools)
        except ToolCallUnusableError as fault:
            turn.record.retrieval = RetrievalRecord("", "failed", self._now(), fault=fault.code)
            raise
        if plan is None:
            turn.record.outcome = "conversational"
            return
        await self._ground_turn.execute(turn, plan, tools, free)

    def _free_tokens(self, turn: TurnUnderWay) -> int:
        """What the message, the prompt and the answer's reserve leave for history and passages."""
        count = turn.model.count_tokens
        prompt = answer_prompt(turn.rules.platform_prompt)
        fixed = message_tokens(turn.started.message, count) + message_tokens(prompt.static_text, count)
        return self._settings.window.free_after(fixed)

    async def _offered_tools(self, turn: TurnUnderWay) -> Mapping[str, Tool]:
        """What is switched on, but the knowledge search of an empty store. One that cannot be asked is not empty."""
        tools = self._tools.switched_on(turn.rules)
        try:
            status = await self._knowledge.current()
        except KnowledgeUnavailableError:
            return tools
        if status.is_empty:
            tools.pop(SEARCH_KNOWLEDGE, None)
        return tools


def _history(turn: TurnUnderWay, budget: int) -> tuple[ModelMessage, ...]:
    told = [ModelMessage(message.role, message.content) for message in turn.started.history if message.content]
    return cut_history(told, budget, turn.model.count_tokens)
