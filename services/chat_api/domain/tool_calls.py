"""Reading what the model wants to have run, tolerantly, and never more than the turn allows."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.chat_api.domain.model_call import ToolCall, ToolSpec

SEARCH_KNOWLEDGE = "search_knowledge"
WEB_SEARCH = "web_search"
MAX_QUERY_CHARS = 2_000

SEARCH_KNOWLEDGE_TOOL = ToolSpec(
    name=SEARCH_KNOWLEDGE,
    description="Search the company's knowledge that this person may read.",
    parameters=json.dumps(
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "A standalone question, understandable by itself."}
            },
            "required": ["query"],
            "additionalProperties": False,
        }
    ),
)

WEB_SEARCH_TOOL = ToolSpec(
    name=WEB_SEARCH,
    description=(
        "Search the public web. The query leaves the company: no names of people or customers, no figures, nothing "
        "that was said or found here."
    ),
    parameters=json.dumps(
        {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "A search query about public facts."}},
            "required": ["query"],
            "additionalProperties": False,
        }
    ),
)

_NOT_OFFERED = "tool_not_offered"
_SECOND_CALL = "second_call_not_run"
_REFUSALS = {
    _NOT_OFFERED: "You called a tool that is not offered. It was not run.",
    _SECOND_CALL: "You called a tool twice. Each tool runs only once in a turn; the second call was not run.",
}

_QUERY_FIELD = re.compile(r'"query"\s*:\s*"((?:[^"\\]|\\.)*)')


@dataclass(frozen=True, slots=True)
class PlannedCall:
    tool: str
    query: str


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What of a round is run. `notes` name what was refused and why, `fault` why nothing could be run."""

    calls: tuple[PlannedCall, ...]
    notes: tuple[str, ...]
    fault: str | None = None


def plan_round(calls: Sequence[ToolCall], offered: Sequence[ToolSpec]) -> RoundPlan:
    """Each offered tool runs once at most; calls to tools that were not offered are refused."""
    names = {tool.name for tool in offered}
    planned: dict[str, PlannedCall] = {}
    notes: list[str] = []
    fault: str | None = None
    for call in calls:
        if call.name not in names:
            notes.append(_NOT_OFFERED)
            fault = "that tool does not exist"
            continue
        query, extra = read_query(call.arguments)
        notes.extend(extra)
        if call.name in planned:
            notes.append(_SECOND_CALL)
        elif query:
            planned[call.name] = PlannedCall(call.name, query)
        else:
            fault = f"the arguments of {call.name} must be JSON with a non-empty string 'query'"
    return RoundPlan(tuple(planned.values()), tuple(notes), None if planned else fault)


def refusals(notes: Sequence[str]) -> tuple[str, ...]:
    """What the model is told of calls of its round that were not run."""
    return tuple(sentence for note, sentence in _REFUSALS.items() if note in notes)


def read_query(arguments: str) -> tuple[str, tuple[str, ...]]:
    """The standalone query, empty if there is none, and notes on what was ignored (an identity, for one)."""
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return _query_in_broken_json(arguments), ("arguments_not_json",)
    if isinstance(parsed, str):
        return _clean(parsed), ("arguments_not_an_object",)
    if not isinstance(parsed, dict):
        return "", ("arguments_not_an_object",)
    notes = ("extra_arguments_ignored",) if set(parsed) - {"query"} else ()
    query = parsed.get("query")
    return (_clean(query), notes) if isinstance(query, str) else ("", notes)


def _query_in_broken_json(arguments: str) -> str:
    found = _QUERY_FIELD.search(arguments)
    if found is None:
        return ""
    try:
        return _clean(json.loads(f'"{found.group(1)}"'))
    except ValueError:
        return _clean(found.group(1))


def _clean(query: str) -> str:
    """Without NUL and lone surrogates, which are no text and can be neither sent nor stored."""
    query = query.replace("\x00", " ").encode("utf-8", "replace").decode()
    return " ".join(query.split())[:MAX_QUERY_CHARS]
