"""Every model call of a turn goes through here, so that none is left without a run, a prompt version and usage."""

import hashlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from services.chat_api.adapters.model_faults import MODEL_FAULTS, is_unbilled
from services.chat_api.domain.budget import message_tokens
from services.chat_api.domain.model_call import (
    ModelChunk,
    ModelClient,
    ModelReported,
    ModelRequest,
    ModelUsage,
    TextDelta,
    ToolCallDelta,
)
from services.chat_api.domain.token_count import TokenCounter, estimate_tokens
from services.chat_api.domain.turn_record import ModelRun, TurnRecord
from services.chat_api.use_cases.turn_spans import model_span, note_run
from services.chat_api.use_cases.turn_under_way import TurnUnderWay
from shared.events.run import RunOutcome


@dataclass(slots=True)
class _Observed:
    started: float
    first_token_ms: int | None = None
    model: str | None = None
    usage: ModelUsage | None = None
    unbilled: bool = False
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


def observed_call(
    turn: TurnUnderWay, request: ModelRequest, now: Callable[[], datetime]
) -> AsyncGenerator[ModelChunk, None]:
    """A call of the turn's own model."""
    return observed_stream(turn.model.client, request, turn.record, now, turn.model.count_tokens)


async def observed_stream(
    client: ModelClient,
    request: ModelRequest,
    record: TurnRecord,
    now: Callable[[], datetime],
    count_tokens: TokenCounter = estimate_tokens,
) -> AsyncGenerator[ModelChunk, None]:
    """The client's chunks; when they end, in whatever way, the run is noted in `record`. `count_tokens` is the model's
    own counter, for a call whose usage the provider does not tell."""
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
        except MODEL_FAULTS as fault:
            outcome = "failed"
            observed.unbilled = observed.first_token_ms is None and is_unbilled(fault)
            raise
        finally:
            usage, estimated = _usage_of(request, observed, outcome, count_tokens)
            record.runs.append(_run_of(client, request, observed, outcome, at, usage, estimated=estimated))
            note_run(opened, record.runs[-1])


def _usage_of(
    request: ModelRequest, observed: _Observed, outcome: RunOutcome, count_tokens: TokenCounter
) -> tuple[ModelUsage, bool]:
    """What was told, or else counted here, and whether it is an estimate. What broke off was told of too early."""
    told = observed.usage
    if told and outcome == "completed":
        return told, False
    if observed.unbilled:
        return ModelUsage(0, 0), True
    counted = _counted(request, "".join(observed.output), count_tokens)
    if told is None:
        return counted, True
    return replace(told, output_tokens=max(told.output_tokens, counted.output_tokens)), True


def _run_of(
    client: ModelClient,
    request: ModelRequest,
    observed: _Observed,
    outcome: RunOutcome,
    at: datetime,
    usage: ModelUsage,
    *,
    estimated: bool,
) -> ModelRun:
    return ModelRun(
        prompt=request.prompt,
        provider=client.provider,
        model=observed.model or request.model,
        outcome=outcome,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        estimated=estimated,
        latency_ms=_milliseconds_since(observed.started),
        first_token_ms=observed.first_token_ms,
        input_hash=_hash_of_input(request),
        output_hash=hashlib.sha256("".join(observed.output).encode()).hexdigest(),
        at=at,
        purpose=request.purpose,
        asked_model=request.model,
    )


def _counted(request: ModelRequest, output: str, count_tokens: TokenCounter) -> ModelUsage:
    """An aborted stream reports no usage; that is counted, not nothing."""
    asked = sum(message_tokens(message.content, count_tokens) for message in request.messages)
    offered = sum(count_tokens(tool.description) + count_tokens(tool.parameters) for tool in request.tools)
    return ModelUsage(asked + offered, count_tokens(output))


def _hash_of_input(request: ModelRequest) -> str:
    canonical = msgspec.json.encode([request.model, request.messages, [tool.name for tool in request.tools]])
    return hashlib.sha256(canonical).hexdigest()


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
