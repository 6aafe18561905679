"""Every model call of a turn goes through here, so that none is left without a run, a prompt version and usage."""

import hashlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from services.chat_api.adapters.model_faults import MODEL_FAULTS
from services.chat_api.domain.model_call import (
    ModelChunk,
    ModelClient,
    ModelReported,
    ModelRequest,
    ModelUsage,
    TextDelta,
    ToolCallDelta,
)
from services.chat_api.domain.token_count import estimate_tokens
from services.chat_api.domain.turn_record import ModelRun, TurnRecord
from services.chat_api.use_cases.turn_spans import model_span, note_run
from shared.events.run import RunOutcome


@dataclass(slots=True)
class _Observed:
    started: float
    first_token_ms: int | None = None
    model: str | None = None
    usage: ModelUsage | None = None
    output: list[str] = field(default_factory=list)

    def note(self, chunk: ModelChunk) -> None:
        if isinstance(chunk, ModelReported):
            self.model = chunk.model or self.model
            self.usage = chunk.usage or self.usage
            return
        if self.first_token_ms is None:
            self.first_token_ms = _milliseconds_since(self.started)
        if isinstance(chunk, TextDelta):
            self.output.append(chunk.text)
        elif isinstance(chunk, ToolCallDelta):
            self.output.append(chunk.name + chunk.arguments)


async def observed_stream(
    client: ModelClient, request: ModelRequest, record: TurnRecord, now: Callable[[], datetime]
) -> AsyncGenerator[ModelChunk, None]:
    """The client's chunks; when they end, in whatever way, the run is noted in `record`."""
    observed = _Observed(time.monotonic())
    at = now()
    outcome: RunOutcome = "interrupted"
    with model_span(client.provider, request.model, request.purpose) as opened:
        try:
            async with aclosing(opened.following(client.stream(request))) as chunks:
                async for chunk in chunks:
                    observed.note(chunk)
                    yield chunk
            outcome = "completed"
        except MODEL_FAULTS:
            outcome = "failed"
            raise
        finally:
            record.runs.append(_run_of(client, request, observed, outcome, at))
            note_run(opened, record.runs[-1])


def _run_of(
    client: ModelClient, request: ModelRequest, observed: _Observed, outcome: RunOutcome, at: datetime
) -> ModelRun:
    output = "".join(observed.output)
    usage = observed.usage or _estimated(request, output)
    return ModelRun(
        prompt=request.prompt,
        provider=client.provider,
        model=observed.model or request.model,
        outcome=outcome,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        estimated=observed.usage is None,
        latency_ms=_milliseconds_since(observed.started),
        first_token_ms=observed.first_token_ms,
        input_hash=_hash_of_input(request),
        output_hash=hashlib.sha256(output.encode()).hexdigest(),
        at=at,
        purpose=request.purpose,
    )


def _estimated(request: ModelRequest, output: str) -> ModelUsage:
    """An aborted stream reports no usage; that is estimated, not nothing."""
    asked = sum(estimate_tokens(message.content) for message in request.messages)
    return ModelUsage(asked, estimate_tokens(output))


def _hash_of_input(request: ModelRequest) -> str:
    canonical = msgspec.json.encode([request.model, request.messages, [tool.name for tool in request.tools]])
    return hashlib.sha256(canonical).hexdigest()


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
