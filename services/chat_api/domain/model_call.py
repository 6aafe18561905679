"""What a model is asked and what it streams back, whatever provider stands behind it."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from services.chat_api.domain.passages import Passage
from services.chat_api.domain.prompts import PromptVersion

# The answerer that needs no provider (adapters/quotes_model.py).
EMBEDDED_MODEL = "quotes"
EMBEDDED_PROVIDER = "embedded"

ModelRole = Literal["system", "user", "assistant"]
Purpose = Literal["route", "answer", "judge"]


@dataclass(frozen=True, slots=True)
class ModelMessage:
    role: ModelRole
    content: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """`parameters` is a JSON Schema, as JSON text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One provider call. `question` and `passages` repeat, as structure, what the messages hold as text: the embedded
    answerer works on them and never parses a prompt."""

    purpose: Purpose
    model: str
    prompt: PromptVersion
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    question: str = ""
    earlier_questions: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    max_output_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """Pieces of one call share `index`; `name` comes once, `arguments` in fragments of JSON."""

    index: int
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Tokens of one call. Those read from and written to a cache are part of the input, reasoning is of the output."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ModelReported:
    """What the provider says about the call: the model that really answered, its usage, why it stopped."""

    model: str | None = None
    usage: ModelUsage | None = None
    finish_reason: str | None = None


ModelChunk = TextDelta | ToolCallDelta | ModelReported


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: str = field(repr=False)


class ModelClient(Protocol):
    """Streams one answer. Closing the iterator closes the connection to the provider."""

    @property
    def provider(self) -> str:
        """Who is paid for the call; `embedded` is nobody."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Raises ModelFaultError (adapters/model_faults.py)."""
