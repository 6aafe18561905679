"""To search or to talk: the pure part of round one."""

import asyncio
import json
from datetime import timedelta

import pytest

from services.chat_api.domain.model_call import ModelReported, TextDelta, ToolCall, ToolCallDelta
from services.chat_api.domain.round_one import RoundOne
from services.chat_api.domain.small_talk import is_small_talk
from services.chat_api.domain.tool_calls import (
    SEARCH_KNOWLEDGE,
    SEARCH_KNOWLEDGE_TOOL,
    WEB_SEARCH,
    PlannedCall,
    plan_round,
    read_query,
    refusals,
)
from services.chat_api.use_cases.tools import Tool, ToolResult, run_tools
from shared.identity import Identity
from tests.support.factories import make_candidate

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_LONG = "word " * 60


def _search(query: str) -> ToolCall:
    return ToolCall(SEARCH_KNOWLEDGE, json.dumps({"query": query}))


def test_short_text_is_held_back_until_the_call_ends() -> None:
    round_one = RoundOne(hold_back=True)
    assert round_one.feed(TextDelta("Hello")) == ""
    assert round_one.finish() == "Hello"
    assert round_one.released


def test_text_is_released_after_forty_tokens() -> None:
    round_one = RoundOne(hold_back=True)
    assert round_one.feed(TextDelta(_LONG)) == _LONG
    assert round_one.feed(TextDelta("more")) == "more"


def test_text_streams_at_once_when_no_search_is_on_offer() -> None:
    assert RoundOne(hold_back=False).feed(TextDelta("Hi")) == "Hi"


def test_preamble_before_a_tool_call_never_reaches_the_user() -> None:
    round_one = RoundOne(hold_back=True)
    round_one.feed(TextDelta("Let me look that up. The answer is surely 99."))
    round_one.feed(ToolCallDelta(0, SEARCH_KNOWLEDGE, '{"query": "leave"}'))
    assert round_one.feed(TextDelta("and more")) == ""
    assert round_one.finish() == ""
    assert [call.name for call in round_one.calls] == [SEARCH_KNOWLEDGE]


def test_tool_call_after_released_text_is_not_run() -> None:
    round_one = RoundOne(hold_back=True)
    round_one.feed(TextDelta(_LONG))
    round_one.feed(ToolCallDelta(0, SEARCH_KNOWLEDGE, '{"query": "x"}'))
    assert round_one.calls == ()
    assert round_one.ignored_calls


def test_a_call_in_fragments_is_put_together() -> None:
    round_one = RoundOne(hold_back=True)
    for delta in (
        ToolCallDelta(0, SEARCH_KNOWLEDGE, ""),
        ToolCallDelta(0, "", '{"que'),
        ToolCallDelta(1, "other", "{}"),
        ToolCallDelta(0, "", 'ry": "a"}'),
        ModelReported(finish_reason="tool_calls"),
    ):
        round_one.feed(delta)
    assert [(call.name, call.arguments) for call in round_one.calls] == [
        (SEARCH_KNOWLEDGE, '{"query": "a"}'),
        ("other", "{}"),
    ]


def test_second_search_call_is_not_run() -> None:
    plan = plan_round([_search("first"), _search("second")], [SEARCH_KNOWLEDGE_TOOL])
    assert [call.query for call in plan.calls] == ["first"]
    assert "second_call_not_run" in plan.notes


def test_call_to_a_tool_that_was_not_offered_is_refused() -> None:
    plan = plan_round([ToolCall("web_search", '{"query": "x"}')], [SEARCH_KNOWLEDGE_TOOL])
    assert plan.calls == ()
    assert plan.notes == ("tool_not_offered",)
    assert plan.fault


def test_a_refused_call_beside_a_good_one_is_no_fault() -> None:
    plan = plan_round([ToolCall("web_search", "{}"), _search("leave")], [SEARCH_KNOWLEDGE_TOOL])
    assert [call.query for call in plan.calls] == ["leave"]
    assert plan.fault is None


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ('{"query": " annual  leave "}', "annual leave"),
        ('{"query": "leave", "identity": {"user_id": "hana"}}', "leave"),
        ('"leave"', "leave"),
        ('{"query": "unfinished', "unfinished"),
        ('{"query": "a \\"quoted\\" word", ', 'a "quoted" word'),
        ("{}", ""),
        ('{"query": ""}', ""),
        ('{"query": 7}', ""),
        ("[1]", ""),
        ("no json at all", ""),
        ("", ""),
    ],
)
def test_arguments_are_read_tolerantly(arguments: str, query: str) -> None:
    assert read_query(arguments)[0] == query


def test_extra_arguments_are_noted_not_used() -> None:
    assert read_query('{"query": "leave", "user": "hana"}') == ("leave", ("extra_arguments_ignored",))


@pytest.mark.parametrize("message", ["Hello!", "Thank you very much", "Привет", "Guten Tag", "你好!", "谢谢"])
def test_small_talk_is_recognised(message: str) -> None:
    assert is_small_talk(message)


@pytest.mark.parametrize("message", ["Hello, how much leave do I have?", "leave", "年假", "Urlaub?", "28", "how many?"])
def test_anything_else_is_searched(message: str) -> None:
    assert not is_small_talk(message)


class _Meeting(Tool):
    """Comes back only when every other tool of the round has been started too."""

    spec = SEARCH_KNOWLEDGE_TOOL
    timeout = timedelta(seconds=5)

    def __init__(self, all_started: asyncio.Barrier, record_id: str) -> None:
        self._all_started = all_started
        self._record_id = record_id

    async def run(self, query: str, identity: Identity | None) -> ToolResult:
        await self._all_started.wait()
        return ToolResult(candidates=(make_candidate(self._record_id),))


class _Broken(_Meeting):
    async def run(self, query: str, identity: Identity | None) -> ToolResult:
        await super().run(query, identity)
        raise RuntimeError("a defect")


@pytest.mark.req("ROUTE-6")
async def test_the_tools_of_a_round_run_at_the_same_time() -> None:
    started = asyncio.Barrier(2)
    tools = {SEARCH_KNOWLEDGE: _Meeting(started, "a.md"), WEB_SEARCH: _Meeting(started, "b.md")}
    result = await run_tools([PlannedCall(SEARCH_KNOWLEDGE, "x"), PlannedCall(WEB_SEARCH, "y")], tools, None)
    assert [one.record_id for one in result.candidates] == ["a.md", "b.md"]
    assert result.unreachable == ()


async def test_a_defect_in_one_tool_does_not_take_what_the_other_found() -> None:
    started = asyncio.Barrier(2)
    tools = {SEARCH_KNOWLEDGE: _Meeting(started, "a.md"), WEB_SEARCH: _Broken(started, "b.md")}
    result = await run_tools([PlannedCall(SEARCH_KNOWLEDGE, "x"), PlannedCall(WEB_SEARCH, "y")], tools, None)
    assert [one.record_id for one in result.candidates] == ["a.md"]
    assert (result.unreachable, result.failed) == ((WEB_SEARCH,), False)


def test_the_model_is_told_which_of_its_calls_was_not_run() -> None:
    plan = plan_round([_search("first"), _search("second")], [SEARCH_KNOWLEDGE_TOOL])
    assert "only once" in refusals(plan.notes)[0]
    assert refusals(()) == ()
