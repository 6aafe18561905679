"""Typed decoding of the OpenAI chat completion stream: bytes in any split, chunks out."""

from collections.abc import Iterator

import msgspec

from services.chat_api.adapters.model_faults import ModelStreamBrokenError, ModelUnavailableError
from services.chat_api.domain.model_call import ModelChunk, ModelReported, ModelUsage, TextDelta, ToolCallDelta
from services.chat_api.domain.provider_usage import read_usage

_DONE = b"[DONE]"
_LONGEST_LINE = 1_048_576
_NOTHING = msgspec.Raw(b"null")


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
    usage: msgspec.Raw = _NOTHING


class _Chunk(msgspec.Struct):
    """Usage stays raw: its shape is the provider's own, and none of it may end an answer."""

    model: str | None = None
    choices: list[_Choice] | None = None
    usage: msgspec.Raw = _NOTHING
    usage_of_gateway: msgspec.Raw = msgspec.field(default=_NOTHING, name="x_groq")
    usage_metadata: msgspec.Raw = msgspec.field(default=_NOTHING, name="usageMetadata")
    error: msgspec.Raw = _NOTHING


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
        if chunk.error != _NOTHING:
            raise ModelUnavailableError("the provider reported an error in its stream")
        yield from self._choices(chunk)
        finish = next((choice.finish_reason for choice in chunk.choices or () if choice.finish_reason), None)
        self.finished = self.finished or finish is not None
        usage = _usage_of(chunk)
        if usage is not None or finish is not None:
            yield ModelReported(model=chunk.model, usage=usage, finish_reason=finish)

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


def _usage_of(chunk: _Chunk) -> ModelUsage | None:
    for raw in (chunk.usage, chunk.usage_metadata, chunk.usage_of_gateway):
        if raw != _NOTHING:
            return _read(raw)
    for choice in chunk.choices or ():
        if choice.usage != _NOTHING:
            return _read(choice.usage)
    return None


def _read(raw: msgspec.Raw) -> ModelUsage | None:
    try:
        told = msgspec.json.decode(raw)
    except msgspec.MsgspecError:
        return None
    return read_usage(told.get("usage", told) if isinstance(told, dict) else told)
