"""The grounded half of a turn: run the tools, pack what they brought, answer from it, say what is missing."""

from collections.abc import Callable, Mapping
from datetime import datetime

from services.chat_api.domain.budget import message_tokens
from services.chat_api.domain.hint import make_hint
from services.chat_api.domain.model_call import EMBEDDED_PROVIDER
from services.chat_api.domain.outcome import outcome_of_evidence
from services.chat_api.domain.packing import pack
from services.chat_api.domain.texts import TextKey
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, WEB_SEARCH, PlannedCall, RoundPlan
from services.chat_api.domain.turn_events import HintGiven, StageReached
from services.chat_api.domain.turn_record import RetrievalRecord
from services.chat_api.use_cases.answer_call import AnswerFromPassages
from services.chat_api.use_cases.judged_release import Judging
from services.chat_api.use_cases.tools import RoundResult, Tool, run_tools
from services.chat_api.use_cases.turn_faults import KnowledgeFailedError, PassagesDoNotFitError, WebFailedError
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_under_way import TurnUnderWay

_UNREACHABLE: Mapping[str, TextKey] = {
    SEARCH_KNOWLEDGE: "notice_knowledge_unreachable",
    WEB_SEARCH: "notice_web_unreachable",
}


class GroundTurn:
    def __init__(self, settings: TurnSettings, now: Callable[[], datetime], judging: Judging | None) -> None:
        self._settings = settings
        self._now = now
        self._answer_call = AnswerFromPassages(settings, now, judging)

    async def execute(self, turn: TurnUnderWay, plan: RoundPlan, tools: Mapping[str, Tool], free: int) -> None:
        """`free` is what prompt, message and the answer's reserve leave of the window, in tokens."""
        await turn.emit(StageReached("searching"))
        result = await run_tools(plan.calls, tools, turn.started.caller.identity)
        asked = _leading_call(plan)
        turn.record.retrieval = _retrieval_of(asked, result, self._now())
        if result.failed:
            raise _fault_of(result)
        self._pack(turn, result, free)
        for tool in result.unreachable:
            turn.record.notes.append(f"{tool}_unreachable")
            await turn.give_notice("source_unreachable", _UNREACHABLE[tool])
        answered = await self._answer(turn, asked.query)
        turn.record.outcome = outcome_of_evidence(result.evidence, answered=answered)
        if turn.record.outcome == "not_found" and result.unreachable:
            raise _fault_of(result)
        await _say_what_is_missing(turn, result)

    def _pack(self, turn: TurnUnderWay, result: RoundResult, free: int) -> None:
        count = turn.model.count_tokens
        left = free - sum(message_tokens(message.content, count) for message in turn.history)
        turn.record.passages = pack(result.candidates, left, at_most=self._settings.passages_at_most, count=count)
        if result.candidates and not turn.record.passages:
            raise PassagesDoNotFitError

    async def _answer(self, turn: TurnUnderWay, query: str) -> bool:
        if not turn.record.passages:
            return False
        await turn.emit(StageReached("answering"))
        if turn.model.client.provider == EMBEDDED_PROVIDER:
            await turn.give_notice("quoted", "notice_quoted")
        return await self._answer_call.execute(turn, query)


async def _say_what_is_missing(turn: TurnUnderWay, result: RoundResult) -> None:
    if turn.record.outcome == "not_found":
        await turn.release(turn.text("unsupported" if turn.record.passages else "not_found"))
    if result.withheld:
        turn.record.hint = make_hint(result.withheld, turn.language)
        if turn.record.outcome == "withheld":
            await turn.release(turn.record.hint.text)
        await turn.emit(HintGiven(turn.record.hint))


def _fault_of(result: RoundResult) -> KnowledgeFailedError | WebFailedError:
    return KnowledgeFailedError() if SEARCH_KNOWLEDGE in result.unreachable else WebFailedError()


def _leading_call(plan: RoundPlan) -> PlannedCall:
    """The knowledge search if there is one: its query is the question that the answer has to meet."""
    return next((call for call in plan.calls if call.tool == SEARCH_KNOWLEDGE), plan.calls[0])


def _retrieval_of(call: PlannedCall, result: RoundResult, at: datetime) -> RetrievalRecord:
    leading = result.results[call.tool]
    faults = (one.fault for one in result.results.values() if one.fault)
    return RetrievalRecord(
        query=call.query,
        outcome="failed" if result.failed else result.evidence,
        at=at,
        store_id=leading.store_id,
        knowledge_version=leading.knowledge_version,
        cache_hit=leading.cache_hit,
        fault=next(faults, None),
        candidates=result.candidates,
        timings_ms={_timing(name): one.elapsed_ms for name, one in result.results.items()},
    )


def _timing(tool: str) -> str:
    return "search" if tool == SEARCH_KNOWLEDGE else tool
