"""The second call: tools withheld, passages supplied, and every sentence through the grounding gate, and past the judge
where one is configured."""

from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime

from services.chat_api.domain.citations import cite
from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.grounding.quotes import best_quotes
from services.chat_api.domain.model_call import ModelMessage, ModelRequest, TextDelta, ToolCallDelta
from services.chat_api.domain.prompts import answer_prompt, render_passages
from services.chat_api.domain.tool_calls import refusals
from services.chat_api.domain.turn_events import SourcesCited
from services.chat_api.use_cases.judged_release import Judging, releasing
from services.chat_api.use_cases.model_calls import observed_call
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_under_way import TurnUnderWay


class AnswerFromPassages:
    def __init__(self, settings: TurnSettings, now: Callable[[], datetime], judging: Judging | None = None) -> None:
        self._settings = settings
        self._now = now
        self._judging = judging

    async def execute(self, turn: TurnUnderWay, query: str) -> bool:
        """Streams what passes the gate; true if anything did. Raises a model fault, with what was released kept."""
        scope = self._judging.scope if self._judging else None
        gate = GroundingGate(_question(turn, query), turn.record.passages, scope)
        try:
            await self._stream(turn, query, gate)
        finally:
            turn.record.rejections.extend(gate.rejections)
            turn.record.citations = cite(turn.record.passages, gate.cited, gate.support)
        if not turn.record.citations:
            await self._quote(turn, query)
        if turn.record.citations:
            await turn.emit(SourcesCited(turn.record.citations))
        return bool(turn.record.citations)

    async def _stream(self, turn: TurnUnderWay, query: str, gate: GroundingGate) -> None:
        request = self._request(turn, query)
        async with releasing(turn, gate, self._judging, self._now) as release:
            async with aclosing(observed_call(turn, request, self._now)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, TextDelta):
                        await release(gate.feed(chunk.text))
                    elif isinstance(chunk, ToolCallDelta) and chunk.name:
                        turn.record.notes.append("tool_call_after_the_round_not_run")
            await release(gate.finish())

    async def _quote(self, turn: TurnUnderWay, query: str) -> None:
        """Every sentence was rejected although passages were found: quote those that fit the question best."""
        passages = turn.record.passages
        gate = GroundingGate(_question(turn, query), passages)
        quotes = best_quotes(query, passages)
        if not quotes:
            return
        turn.record.notes.append("fell_back_to_quotes")
        async with releasing(turn, gate, None, self._now) as release:
            for at, quote in enumerate(quotes):
                await release(gate.feed(f"{'' if at == 0 else chr(10) * 2}{quote.text} [{quote.n}]"))
            await release(gate.finish())
        turn.record.citations = cite(passages, gate.cited, gate.support)
        if turn.record.citations:
            await turn.give_notice("quoted", "notice_quoted")

    def _request(self, turn: TurnUnderWay, query: str) -> ModelRequest:
        prompt = answer_prompt(turn.rules.platform_prompt)
        parts = (prompt.static_text, *refusals(turn.record.notes), render_passages(turn.record.passages))
        return ModelRequest(
            purpose="answer",
            model=turn.model.name,
            prompt=prompt,
            messages=(
                ModelMessage("system", "\n\n".join(parts)),
                *turn.history,
                ModelMessage("user", turn.started.message),
            ),
            question=query,
            passages=turn.record.passages,
            max_output_tokens=self._settings.window.answer_reserve,
        )


def _question(turn: TurnUnderWay, query: str) -> str:
    message = turn.started.message
    return message if query == message else f"{message}\n{query}"
