"""The tools of a round: run in parallel, each within its own time, and their results as one."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from services.chat_api.adapters.source_faults import SourceUnavailableError
from services.chat_api.domain.hint import HintSource
from services.chat_api.domain.model_call import ToolSpec
from services.chat_api.domain.outcome import EvidenceOutcome
from services.chat_api.domain.ranking import Candidate, merge_ranked
from services.chat_api.domain.tool_calls import PlannedCall
from shared.identity import Identity
from shared.tracing import NoSpan, span

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one tool brought, or `fault`: then everything else is empty, and that is not the same as found nothing."""

    candidates: tuple[Candidate, ...] = ()
    withheld: tuple[HintSource, ...] = ()
    store_id: str | None = None
    knowledge_version: int | None = None
    cache_hit: bool = False
    fault: str | None = None
    elapsed_ms: int = 0


class Tool(Protocol):
    spec: ToolSpec
    timeout: timedelta

    async def run(self, query: str, identity: Identity | None) -> ToolResult:
        """The identity is the session's; a tool never takes one from its arguments."""


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The union of a round; `results` are by the name of the tool."""

    candidates: tuple[Candidate, ...]
    withheld: tuple[HintSource, ...]
    results: Mapping[str, ToolResult] = field(repr=False)

    @property
    def unreachable(self) -> tuple[str, ...]:
        """The tools that could not be asked."""
        return tuple(name for name, result in self.results.items() if result.fault)

    @property
    def failed(self) -> bool:
        """Nothing came back, and a tool could not be asked: nobody knows whether there is nothing."""
        return not self.candidates and not self.withheld and bool(self.unreachable)

    @property
    def evidence(self) -> EvidenceOutcome:
        if self.candidates:
            return "mixed" if self.withheld else "hits"
        return "withheld" if self.withheld else "empty"


async def run_tools(calls: Sequence[PlannedCall], tools: Mapping[str, Tool], identity: Identity | None) -> RoundResult:
    results = await asyncio.gather(*(_run(tools[call.tool], call.query, identity) for call in calls))
    candidates = merge_ranked([candidate for result in results for candidate in result.candidates])
    withheld = tuple(source for result in results for source in result.withheld)
    by_tool = {call.tool: result for call, result in zip(calls, results, strict=True)}
    return RoundResult(tuple(candidates), withheld, by_tool)


async def _run(tool: Tool, query: str, identity: Identity | None) -> ToolResult:
    name = tool.spec.name
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "datastore",
    }
    with span(f"execute_tool {name}", attributes) as opened:
        result = await _run_bounded(tool, query, identity)
        _note(opened, result)
    return result


def _note(opened: NoSpan, result: ToolResult) -> None:
    if not opened.recording:
        return
    opened.note(
        {
            "gen_ai.data_source.id": result.store_id,
            "achilles.search.cache_hit": result.cache_hit,
            "achilles.search.candidates": len(result.candidates),
            "achilles.search.withheld": len(result.withheld),
        }
    )
    if result.fault:
        opened.failed(result.fault)


async def _run_bounded(tool: Tool, query: str, identity: Identity | None) -> ToolResult:
    started = time.monotonic()
    try:
        async with asyncio.timeout(tool.timeout.total_seconds()):
            return await tool.run(query, identity)
    except TimeoutError:
        fault = "timeout"
    except SourceUnavailableError as unavailable:
        fault = unavailable.kind
    except Exception:
        # A defect in one tool must not take what another one found.
        logger.exception("tool_defect", extra={"tool": tool.spec.name})
        fault = "defect"
    logger.warning("tool_failed", extra={"tool": tool.spec.name, "fault": fault})
    return ToolResult(fault=fault, elapsed_ms=round((time.monotonic() - started) * 1000))
