"""A turn as the stream of an OpenAI chat completion."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import msgspec
from pydantic import BaseModel

from services.chat_api.domain.turn_events import TurnEvent, TurnFailed, TurnFinished, TurnInterrupted, TurnStarted
from services.chat_api.http.openai_answer import OpenAiAnswer
from services.chat_api.http.openai_bodies import (
    AchillesPart,
    ChatCompletionChunk,
    ChunkChoice,
    Delta,
    FailedTurnBody,
    FinishReason,
    Usage,
)
from services.chat_api.http.openai_errors import error_body

OPENAI_STREAM_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}
_DONE = b"data: [DONE]\n\n"
_NO_TEXT = b'"content":""'
_encode = msgspec.json.Encoder().encode


class OpenAiChunks:
    """`created` is in seconds since 1970. A turn that fails ends the stream with an error and without `[DONE]`."""

    def __init__(self, answer: OpenAiAnswer, *, created: int, include_usage: bool) -> None:
        self._answer = answer
        self._created = created
        self._include_usage = include_usage
        self._around_text: tuple[bytes, bytes] | None = None

    async def frames(self, events: AsyncGenerator[TurnEvent, None]) -> AsyncGenerator[bytes, None]:
        """Closing this closes `events` at once, so that a reader who leaves is noticed."""
        async with aclosing(events):
            async for event in events:
                for frame in self.encode(event):
                    yield frame

    def encode(self, event: TurnEvent) -> Iterator[bytes]:
        text = self._answer.feed(event)
        if isinstance(event, TurnStarted):
            yield self._chunk(Delta(role="assistant", content=""), achilles=self._answer.identified)
        if text:
            yield self._text_chunk(text)
        if isinstance(event, TurnFailed):
            yield _frame(failed_turn(self._answer, event))
        elif isinstance(event, TurnFinished):
            yield from self._ending("stop")
        elif isinstance(event, TurnInterrupted):
            yield from self._ending("length")

    def _ending(self, reason: FinishReason) -> Iterator[bytes]:
        annotations = self._answer.annotations
        if annotations:
            yield self._chunk(Delta(annotations=annotations))
        yield self._chunk(Delta(), finish=reason, achilles=self._answer.achilles)
        if self._include_usage:
            yield self._frame_of((), usage=self._answer.usage)
        yield _DONE

    def _text_chunk(self, text: str) -> bytes:
        """Most chunks of an answer: only their text is encoded, the rest once."""
        if self._around_text is None:
            before, _, after = self._chunk(Delta(content="")).partition(_NO_TEXT)
            self._around_text = (before + _NO_TEXT[:-2], after)
        before, after = self._around_text
        return before + _encode(text) + after

    def _chunk(
        self, delta: Delta, *, finish: FinishReason | None = None, achilles: AchillesPart | None = None
    ) -> bytes:
        return self._frame_of((ChunkChoice(index=0, delta=delta, finish_reason=finish),), achilles=achilles)

    def _frame_of(
        self, choices: tuple[ChunkChoice, ...], *, usage: Usage | None = None, achilles: AchillesPart | None = None
    ) -> bytes:
        chunk = ChatCompletionChunk(
            id=self._answer.completion_id,
            object="chat.completion.chunk",
            created=self._created,
            model=self._answer.model,
            choices=choices,
        )
        if self._include_usage:
            chunk.usage = usage
        if achilles:
            chunk.achilles = achilles
        return _frame(chunk)


def failed_turn(answer: OpenAiAnswer, failure: TurnFailed) -> FailedTurnBody:
    """The body of a failure, whether its status can still be told or not."""
    return FailedTurnBody(
        error=error_body(failure.text, failure_status(failure), failure.code).error, achilles=answer.achilles
    )


def failure_status(failure: TurnFailed) -> int:
    if failure.code == "message_too_large":
        return 413
    return 503 if failure.retryable else 500


def _frame(body: BaseModel) -> bytes:
    return b"data: " + body.model_dump_json(exclude_unset=True).encode() + b"\n\n"
