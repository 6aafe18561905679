"""Round one: the model either talks or asks for tools. An unusable request is put to it once more."""

from collections.abc import Callable, Mapping
from contextlib import aclosing
from datetime import datetime

from services.chat_api.adapters.model_faults import ModelStreamBrokenError
from services.chat_api.domain.client_instructions import is_client_instruction
from services.chat_api.domain.grounding.marker_filter import MarkerFilter
from services.chat_api.domain.model_call import ModelMessage, ModelRequest
from services.chat_api.domain.prompts import route_prompt
from services.chat_api.domain.round_one import RoundOne
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, WEB_SEARCH, RoundPlan, plan_round
from services.chat_api.use_cases.model_calls import observed_call
from services.chat_api.use_cases.tools import Tool
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_under_way import TurnUnderWay
from shared.errors import PermanentError


class ToolCallUnusableError(PermanentError):
    """The model asked twice for something that cannot be run."""

    code = "tool_call_unusable"
    title = "The language model asked for a search in a form that cannot be run"


class FirstCall:
    def __init__(self, settings: TurnSettings, now: Callable[[], datetime]) -> None:
        self._settings = settings
        self._now = now

    async def execute(self, turn: TurnUnderWay, tools: Mapping[str, Tool]) -> RoundPlan | None:
        """The calls to run, or None if the model answered by itself. Raises a model fault or ToolCallUnusableError."""
        fault: str | None = None
        for _ in range(2):
            plan = await self._ask(turn, tools, fault)
            if plan is None or plan.fault is None:
                return plan
            # No tool has run yet, so asking again is no second round.
            fault = plan.fault
            turn.record.notes.append("round_one_asked_again")
        raise ToolCallUnusableError

    async def _ask(self, turn: TurnUnderWay, tools: Mapping[str, Tool], fault: str | None) -> RoundPlan | None:
        round_one = RoundOne(hold_back=SEARCH_KNOWLEDGE in tools)
        request = self._request(turn, tools, fault)
        # What cites nothing must not look as if it did.
        unmarked = MarkerFilter()
        async with aclosing(observed_call(turn, request, self._now)) as chunks:
            async for chunk in chunks:
                await self._talk(turn, unmarked.feed(round_one.feed(chunk)))
        await self._talk(turn, unmarked.feed(round_one.finish()) + unmarked.finish())
        if round_one.ignored_calls:
            turn.record.notes.append("tool_call_after_text_not_run")
        if round_one.released and turn.record.text:
            return None
        plan = plan_round(round_one.calls, [tool.spec for tool in tools.values()])
        turn.record.notes.extend(plan.notes)
        if not plan.calls and plan.fault is None:
            raise ModelStreamBrokenError("the language model answered nothing")
        return plan

    async def _talk(self, turn: TurnUnderWay, text: str) -> None:
        if text and not turn.record.text:
            await turn.give_notice("conversational", "notice_conversational")
        await turn.release(text)

    def _request(self, turn: TurnUnderWay, tools: Mapping[str, Tool], fault: str | None) -> ModelRequest:
        prompt = route_prompt(
            turn.rules.platform_prompt, search_on_offer=SEARCH_KNOWLEDGE in tools, web_on_offer=WEB_SEARCH in tools
        )
        system = prompt.static_text if fault is None else f"{prompt.static_text}\n\nYour last call failed: {fault}."
        return ModelRequest(
            purpose="route",
            model=turn.model.name,
            prompt=prompt,
            messages=(
                ModelMessage("system", system),
                *turn.history,
                ModelMessage("user", turn.started.message),
            ),
            tools=tuple(tool.spec for tool in tools.values()),
            question=turn.started.message,
            earlier_questions=tuple(
                one.content for one in turn.history if one.role == "user" and not is_client_instruction(one)
            ),
            max_output_tokens=self._settings.window.answer_reserve,
        )
