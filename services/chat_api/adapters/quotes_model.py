"""The embedded answerer: no key, no download, deterministic. It searches by rule and answers in quotations."""

import json
from collections.abc import AsyncGenerator
from typing import ClassVar

from services.chat_api.domain.follow_ups import standalone_question
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.quotes import best_quotes
from services.chat_api.domain.model_call import (
    EMBEDDED_MODEL,
    EMBEDDED_PROVIDER,
    ModelChunk,
    ModelReported,
    ModelRequest,
    ModelUsage,
    TextDelta,
    ToolCallDelta,
)
from services.chat_api.domain.small_talk import is_small_talk
from services.chat_api.domain.texts import text_for
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE


class QuotesModel:
    """Speaks the same seam as a real model, so that nothing in a turn knows the difference."""

    provider: ClassVar[str] = EMBEDDED_PROVIDER

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        if request.purpose == "answer":
            for piece in _quoted(request):
                yield piece
        elif _may_search(request) and not is_small_talk(request.question):
            query = standalone_question(request.question, request.earlier_questions)
            yield ToolCallDelta(0, SEARCH_KNOWLEDGE, json.dumps({"query": query}))
        else:
            yield TextDelta(text_for("greeting", detect_language(request.question)))
        yield ModelReported(EMBEDDED_MODEL, ModelUsage(0, 0), "stop")


def _may_search(request: ModelRequest) -> bool:
    """Never the web: a rule cannot tell what of a question must not leave the company."""
    return any(tool.name == SEARCH_KNOWLEDGE for tool in request.tools)


def _quoted(request: ModelRequest) -> list[ModelChunk]:
    quotes = best_quotes(request.question, request.passages)
    return [TextDelta(f"{'' if at == 0 else chr(10) * 2}{quote.text} [{quote.n}]") for at, quote in enumerate(quotes)]
