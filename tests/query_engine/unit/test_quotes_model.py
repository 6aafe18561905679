"""The embedded answerer in round one: which tool it asks for, with what."""

import json

import pytest

from services.chat_api.adapters.quotes_model import QuotesModel
from services.chat_api.domain.model_call import ModelMessage, ModelRequest, TextDelta, ToolCallDelta, ToolSpec
from services.chat_api.domain.prompts import route_prompt
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, SEARCH_KNOWLEDGE_TOOL, WEB_SEARCH_TOOL

pytestmark = [pytest.mark.unit, pytest.mark.p1]


async def _first(question: str, tools: tuple[ToolSpec, ...], earlier: tuple[str, ...] = ()) -> object:
    request = ModelRequest(
        purpose="route",
        model="quotes",
        prompt=route_prompt("", search_on_offer=True),
        messages=(ModelMessage("user", question),),
        tools=tools,
        question=question,
        earlier_questions=earlier,
    )
    return await anext(QuotesModel().stream(request))


async def test_a_question_is_put_to_the_companys_knowledge_only() -> None:
    asked = await _first("What is the allowance?", (WEB_SEARCH_TOOL, SEARCH_KNOWLEDGE_TOOL))
    assert asked == ToolCallDelta(0, SEARCH_KNOWLEDGE, json.dumps({"query": "What is the allowance?"}))


async def test_no_question_leaves_for_the_web() -> None:
    assert isinstance(await _first("What is the allowance of Anna Varga?", (WEB_SEARCH_TOOL,)), TextDelta)


async def test_a_follow_up_is_made_understandable_by_itself() -> None:
    asked = await _first("And in Berlin?", (SEARCH_KNOWLEDGE_TOOL,), ("What is the allowance in Munich?",))
    assert isinstance(asked, ToolCallDelta)
    assert json.loads(asked.arguments) == {"query": "What is the allowance? And in Berlin?"}
