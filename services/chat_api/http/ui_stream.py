"""A turn as the AI SDK's UI message stream, version 1: one JSON object a `data:` line."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import msgspec

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.turn_events import (
    AnswerDelta,
    HintGiven,
    Notice,
    SourcesCited,
    StageReached,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)

UI_STREAM_HEADERS = {
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
}
_DONE = b"data: [DONE]\n\n"
_encode = msgspec.json.Encoder().encode


def frame(part: dict[str, Any]) -> bytes:
    return b"data: " + _encode(part) + b"\n\n"


class UiStream:
    """Turn events in, frames out. Text is opened by its first delta and closed before anything that follows it."""

    def __init__(self, text_id: str = "answer") -> None:
        self._text_id = text_id
        self._open = False

    async def frames(self, events: AsyncGenerator[TurnEvent, None]) -> AsyncGenerator[bytes, None]:
        """Closing this closes `events` at once, so that a reader who leaves is noticed."""
        async with aclosing(events):
            async for event in events:
                yield b"".join(self.encode(event))

    def encode(self, event: TurnEvent) -> Iterator[bytes]:
        if isinstance(event, AnswerDelta):
            yield from self._text(event)
            return
        if not isinstance(event, StageReached | Notice) and self._open:
            self._open = False
            yield frame({"type": "text-end", "id": self._text_id})
        yield from _parts(event)

    def _text(self, event: AnswerDelta) -> Iterator[bytes]:
        if not self._open:
            self._open = True
            yield frame({"type": "text-start", "id": self._text_id})
        yield frame({"type": "text-delta", "id": self._text_id, "delta": event.text})


def _parts(event: TurnEvent) -> Iterator[bytes]:
    match event:
        case TurnStarted():
            metadata = {"conversation_id": str(event.conversation_id), "model": event.model}
            yield frame({"type": "start", "messageId": str(event.message_id), "messageMetadata": metadata})
        case StageReached():
            yield frame({"type": "data-status", "data": {"stage": event.stage}, "transient": True})
        case Notice():
            yield frame({"type": "data-notice", "data": {"code": event.code, "text": event.text}})
        case SourcesCited():
            yield from _sources(event)
        case HintGiven():
            yield frame({"type": "data-hint", "data": event.hint.model_dump(exclude_none=True)})
        case TurnFinished():
            yield frame({"type": "message-metadata", "messageMetadata": _metadata(event)})
            yield frame({"type": "finish", "finishReason": "stop"})
            yield _DONE
        case TurnFailed():
            yield frame({"type": "data-error", "data": {"code": event.code, "retryable": event.retryable}})
            yield frame({"type": "error", "errorText": event.text})
            yield _DONE
        case TurnInterrupted():
            yield frame({"type": "abort"})
            yield _DONE


def _sources(event: SourcesCited) -> Iterator[bytes]:
    for citation in event.citations:
        yield frame(_source(citation))
    for citation in event.citations:
        yield frame({"type": "data-citation", "id": f"citation-{citation.n}", "data": citation.model_dump()})


def _source(citation: Citation) -> dict[str, Any]:
    if citation.origin == "web":
        return {"type": "source-url", "sourceId": citation.record_id, "url": citation.url, "title": citation.title}
    return {
        "type": "source-document",
        "sourceId": citation.record_id,
        "mediaType": "text/plain",
        "title": citation.title,
    }


def _metadata(event: TurnFinished) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "outcome": event.outcome,
        "model": event.model,
        "tokens_used": event.tokens_used,
    }
    if event.usage:
        metadata["usage"] = {"input_tokens": event.usage.input_tokens, "output_tokens": event.usage.output_tokens}
    return metadata
