"""The spans of a turn, named as OpenTelemetry's conventions for generative AI name them. Ids and figures only."""

from contextlib import AbstractContextManager

from opentelemetry.trace import SpanKind

from services.chat_api.domain.model_call import Purpose
from services.chat_api.domain.turn_record import ModelRun
from services.chat_api.use_cases.start_turn import StartedTurn
from services.chat_api.use_cases.turn_under_way import TurnUnderWay
from shared.tracing import NoSpan, detached_span, span

_AGENT = "achilles"


def turn_span(started: StartedTurn) -> NoSpan:
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": _AGENT,
        "gen_ai.conversation.id": str(started.conversation_id),
        "achilles.message.id": str(started.message_id),
    }
    return span(f"invoke_agent {_AGENT}", attributes)


def note_turn(opened: NoSpan, turn: TurnUnderWay, fault: str | None) -> None:
    """What came of it. `fault` is the code that the client is told, if any."""
    if not opened.recording:
        return
    record = turn.record
    opened.note(
        {
            "achilles.turn.outcome": record.outcome,
            "gen_ai.request.model": turn.model.name,
            "gen_ai.response.model": record.model or None,
            "gen_ai.usage.input_tokens": record.input_tokens,
            "gen_ai.usage.output_tokens": record.output_tokens,
            "achilles.turn.passages": len(record.passages),
            "achilles.turn.citations": len(record.citations),
            "achilles.turn.rejections": len(record.rejections),
        }
    )
    if fault:
        opened.failed(fault)


def model_span(provider: str, model: str, purpose: Purpose) -> AbstractContextManager[NoSpan]:
    """One provider call; `note_run` tells what came of it."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "achilles.model.purpose": purpose,
    }
    return detached_span(f"chat {model}", attributes, SpanKind.CLIENT)


def note_run(opened: NoSpan, run: ModelRun) -> None:
    if not opened.recording:
        return
    first = run.first_token_ms
    opened.note(
        {
            "gen_ai.response.model": run.model,
            "gen_ai.usage.input_tokens": run.input_tokens,
            "gen_ai.usage.cache_read.input_tokens": run.cached_input_tokens,
            "gen_ai.usage.output_tokens": run.output_tokens,
            "gen_ai.prompt.name": run.prompt.name,
            "achilles.prompt.version": run.prompt.id,
            "gen_ai.response.time_to_first_chunk": None if first is None else first / 1000,
            "achilles.model.outcome": run.outcome,
            "achilles.usage.estimated": run.estimated,
        }
    )
