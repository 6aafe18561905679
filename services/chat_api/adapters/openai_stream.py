"""Typed decoding of the OpenAI chat completion stream: bytes in any split, chunks out."""

from collections.abc import Iterator

import msgspec

from services.chat_api.adapters.model_faults import ModelStreamBrokenError, ModelUnavailableError
from services.chat_api.domain.model_call import ModelChunk, ModelReported, ModelUsage, TextDelta, ToolCallDelta

_DONE = b"[DONE]"
_MOST_TOKENS = 2**31 - 1
_LONGEST_LINE = 1_048_576


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(msgspec.Struct):
    index: int = 0
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _TokenDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _TokenDetails | None = None


class _Chunk(msgspec.Struct):
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")


_decode = msgspec.json.Decoder(_Chunk).decode


class OpenAiStream:
    """Feed it what the socket gives; it splits lines on bytes, so a character cut in two arrives whole."""

    def __init__(self) -> None:
        self._rest = b""
        self.done = False
        self.finished = False

    def feed(self, data: bytes) -> Iterator[ModelChunk]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            raise ModelStreamBrokenError("the provider sent a line without an end")
        for line in lines:
            if line.startswith(b"data:"):
                yield from self._event(line[5:].strip())

    def _event(self, data: bytes) -> Iterator[ModelChunk]:
        if data == _DONE:
            self.done = True
            return
        try:
            chunk = _decode(data)
        except msgspec.MsgspecError as fault:
            raise ModelStreamBrokenError("the provider sent something that is no completion chunk") from fault
        if bytes(chunk.error) != b"null":
            raise ModelUnavailableError("the provider reported an error in its stream")
        yield from self._choices(chunk)
        finish = next((choice.finish_reason for choice in chunk.choices or () if choice.finish_reason), None)
        self.finished = self.finished or finish is not None
        if chunk.usage is not None or finish is not None:
            yield ModelReported(model=chunk.model, usage=_usage_of(chunk.usage), finish_reason=finish)

    def _choices(self, chunk: _Chunk) -> Iterator[ModelChunk]:
        for choice in chunk.choices or ():
            if choice.delta is None:
                continue
            if choice.delta.content:
                # No store can keep a NUL, and no reader misses one.
                yield TextDelta(choice.delta.content.replace("\x00", ""))
            for call in choice.delta.tool_calls or ():
                function = call.function or _Function()
                yield ToolCallDelta(call.index, function.name or "", function.arguments or "")


def _usage_of(usage: _Usage | None) -> ModelUsage | None:
    if usage is None:
        return None
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens if details else None) or 0
    return ModelUsage(_bounded(usage.prompt_tokens), _bounded(usage.completion_tokens), _bounded(cached))


def _bounded(tokens: int) -> int:
    """Nothing that a provider reports may be more than a column can hold."""
    return max(0, min(tokens, _MOST_TOKENS))
