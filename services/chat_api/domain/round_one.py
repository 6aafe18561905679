"""The first call of a turn, chunk by chunk: either the model talks, or it calls tools, never both."""

from dataclasses import dataclass, field

from services.chat_api.domain.model_call import ModelChunk, ModelReported, TextDelta, ToolCall, ToolCallDelta
from services.chat_api.domain.token_count import estimate_tokens

HOLD_BACK_TOKENS = 40


@dataclass(slots=True)
class _CallParts:
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class RoundOne:
    """While a search is on offer, text is held back until the call ends or 40 tokens have come. Once text is released
    the turn is conversational and a tool call after that is not run. So no ungated preamble reaches the user."""

    def __init__(self, *, hold_back: bool) -> None:
        self._hold_back = hold_back
        self._held: list[str] = []
        self._held_tokens = 0
        self._calls: dict[int, _CallParts] = {}
        self.released = False
        self.ignored_calls = False

    def feed(self, chunk: ModelChunk) -> str:
        """Text to show now, or an empty string."""
        if isinstance(chunk, TextDelta):
            return self._feed_text(chunk.text)
        if isinstance(chunk, ToolCallDelta):
            self._feed_call(chunk)
        elif not isinstance(chunk, ModelReported):
            raise TypeError(type(chunk).__name__)
        return ""

    def finish(self) -> str:
        """Held text of a turn that turned out to be conversational; nothing if tools were called."""
        return "" if self._calls else self._release()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        parts = (self._calls[index] for index in sorted(self._calls))
        return tuple(ToolCall(one.name, "".join(one.arguments)) for one in parts)

    def _feed_text(self, text: str) -> str:
        if self._calls:
            return ""
        if self.released:
            return text
        self._held.append(text)
        self._held_tokens += estimate_tokens(text)
        if self._hold_back and self._held_tokens < HOLD_BACK_TOKENS:
            return ""
        return self._release()

    def _release(self) -> str:
        text = "".join(self._held)
        self._held.clear()
        self.released = self.released or bool(text)
        return text

    def _feed_call(self, delta: ToolCallDelta) -> None:
        if self.released:
            self.ignored_calls = True
            return
        parts = self._calls.setdefault(delta.index, _CallParts())
        parts.name = parts.name or delta.name
        parts.arguments.append(delta.arguments)
