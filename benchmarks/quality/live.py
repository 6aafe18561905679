"""What a real model does: whether it searches, what of its answers the gate keeps, and how well it judges."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from benchmarks.gate.corpus import read_sections
from benchmarks.quality.answering import answer, packed
from benchmarks.quality.report import Case, Finding, Row
from services.chat_api.adapters.model_faults import MODEL_FAULTS
from services.chat_api.adapters.openai_judge import OpenAiJudge
from services.chat_api.adapters.openai_model import OpenAiModel
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, SEARCH_KNOWLEDGE_TOOL
from services.chat_api.use_cases.first_call import FirstCall, ToolCallUnusableError
from services.chat_api.use_cases.judged_release import Judging
from services.chat_api.use_cases.tools import ToolResult
from shared.identity import Identity
from tests.support.turns import SETTINGS, make_turn, now

KEPT = Row("GROUND-15", "the real model: gold answer kept", 0.90, at_most=False)
SKIPPED = Row("ROUTE", "the real model: search skipped")
_PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Any OpenAI-compatible one; its key is in ACHILLES_MODEL_API_KEY."""

    url: str
    model: str


class _NeverRun:
    spec = SEARCH_KNOWLEDGE_TOOL
    timeout = timedelta(seconds=1)

    async def run(self, query: str, identity: Identity | None) -> ToolResult:
        raise NotImplementedError


@asynccontextmanager
async def opened(endpoint: Endpoint) -> AsyncIterator[OpenAiModel]:
    client = OpenAiModel(
        endpoint.url,
        os.environ.get("ACHILLES_MODEL_API_KEY", ""),
        connect_timeout=_PATIENCE,
        silence_timeout=_PATIENCE,
    )
    await client.open()
    try:
        yield client
    finally:
        await client.close()


def judging_with(client: OpenAiModel, endpoint: Endpoint) -> Judging:
    return Judging(OpenAiJudge(client, endpoint.model), "all", _PATIENCE)


async def measure_live(client: OpenAiModel, endpoint: Endpoint, language: str, limit: int) -> list[Finding]:
    """One question a passage, at most `limit`."""
    sections = read_sections(language)
    kept: list[Case] = []
    skipped: list[Case] = []
    for section in sections[:limit]:
        asked = section.asked[0]
        skipped.append(await _route(client, endpoint, asked.question))
        try:
            got = await answer(asked.question, packed(section, sections), client, model_name=endpoint.model)
        except MODEL_FAULTS as fault:
            kept.append(Case(False, asked.question, "", "", type(fault).__name__))
            continue
        kept.append(Case(got.holds(asked.answer), asked.question, asked.answer, got.text, ", ".join(got.reasons)))
    return [Finding(KEPT, language, kept), Finding(SKIPPED, language, skipped)]


async def _route(client: OpenAiModel, endpoint: Endpoint, question: str) -> Case:
    turn = make_turn(question, (), client, model_name=endpoint.model)
    try:
        plan = await FirstCall(SETTINGS, now).execute(turn, {SEARCH_KNOWLEDGE: _NeverRun()})
    except (ToolCallUnusableError, *MODEL_FAULTS) as fault:
        return Case(False, question, "", "", type(fault).__name__)
    return Case(plan is None, question, "", turn.record.content)
