"""A chat model whose every word is scripted, behind the same seam as the real ones."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from services.chat_api.domain.model_call import (
    ModelChunk,
    ModelReported,
    ModelRequest,
    ModelUsage,
    TextDelta,
    ToolCallDelta,
)
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE

SCRIPTED_MODEL = "scripted-1"


@dataclass(slots=True)
class Reply:
    """One provider call: its chunks in order. An exception among them is raised; a gate is waited for."""

    steps: Sequence[ModelChunk | Exception | asyncio.Event]
    usage: ModelUsage | None = field(default_factory=lambda: ModelUsage(100, 20))


def search(query: str) -> Reply:
    """Round one decides to search."""
    return Reply([ToolCallDelta(0, SEARCH_KNOWLEDGE, json.dumps({"query": query}))])


def call(**queries: str) -> Reply:
    """Round one asks for several tools at once: the query of each by its name."""
    return Reply(
        [ToolCallDelta(at, tool, json.dumps({"query": query})) for at, (tool, query) in enumerate(queries.items())]
    )


def say(text: str, *, chunk_chars: int = 7) -> Reply:
    """Text in small pieces, cut without regard to words or markers."""
    return Reply([TextDelta(text[at : at + chunk_chars]) for at in range(0, len(text), chunk_chars)])


class ScriptedModel:
    """Answers call after call from its script and remembers what it was asked."""

    provider: ClassVar[str] = "scripted"

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[ModelRequest] = []
        self.closed_early = asyncio.Event()

    def forget(self) -> None:
        """As new, for the next test on the same front."""
        self._replies.clear()
        self.requests.clear()
        self.closed_early.clear()

    def script(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        if not self._replies:
            raise AssertionError("the model was called more often than scripted")
        reply = self._replies.pop(0)
        finished = False
        try:
            for step in reply.steps:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, asyncio.Event):
                    await step.wait()
                else:
                    yield step
            yield ModelReported(SCRIPTED_MODEL, reply.usage, "stop")
            finished = True
        finally:
            if not finished:
                self.closed_early.set()
