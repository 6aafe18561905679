"""What a client of the OpenAI chat completion API sends, and what a turn takes from it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from services.chat_api.domain.client_instructions import client_instructions
from services.chat_api.domain.model_call import ModelMessage
from services.chat_api.http.identifiers import ClientId
from services.chat_api.http.openai_errors import InvalidMessagesError, UnsupportedParameterError

# The name under which a client asks for whatever model the conversation or the operator chose.
ACHILLES_MODEL = "achilles"

_Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]


class _Sent(BaseModel):
    """Nothing is guessed: a number in quotes is no number."""

    model_config = ConfigDict(strict=True)


class ContentPart(_Sent):
    type: str = Field(max_length=50)
    text: _Text | None = None
    refusal: _Text | None = None


class CompletionMessage(_Sent):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: _Text | list[ContentPart] | None = None


class StreamOptions(_Sent):
    include_usage: bool | None = None


class ResponseFormat(_Sent):
    type: str = Field(max_length=50)


class CompletionRequest(_Sent):
    """Fields that are not listed (temperature, max_tokens, stop, seed, tools, user and the like) are accepted and
    change nothing: what is released is decided by the sources. `messages` end with the question. What stands before it
    helps to understand it, unless a thread is continued, which knows by itself what was said."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "model": ACHILLES_MODEL,
                "messages": [{"role": "user", "content": "How many days of annual leave do I have?"}],
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        }
    )

    model: str = Field(max_length=200)
    messages: list[CompletionMessage] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    response_format: ResponseFormat | None = None
    modalities: list[str] | None = None
    tool_choice: JsonValue = None
    function_call: JsonValue = None

    @property
    def include_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


class CompletionHeaders(BaseModel):
    """`X-Conversation-Id` is an id of ours. `X-OpenWebUI-Chat-Id` is Open WebUI's own, and opens a thread of that
    person when it is new. `Idempotency-Key` makes asking again safe. `X-Achilles-Source-Links: true` appends the
    sources to the text, for clients that show no annotations."""

    x_conversation_id: str | None = Field(default=None, max_length=64)
    x_openwebui_chat_id: ClientId | None = None
    idempotency_key: ClientId | None = None
    x_achilles_source_links: Literal["true", "false"] | None = None


class ToldConversation(BaseModel):
    """`earlier` is the client's word for what was said."""

    model_config = ConfigDict(frozen=True)

    question: str
    earlier: tuple[ModelMessage, ...]
    instructions: tuple[ModelMessage, ...]


def refuse_what_is_not_done(request: CompletionRequest) -> None:
    """Raises UnsupportedParameterError."""
    if request.n not in (None, 1):
        raise UnsupportedParameterError("n", "A turn has one answer: leave out `n`, or set it to 1.")
    if request.logprobs or request.top_logprobs:
        raise UnsupportedParameterError("logprobs", "Released sentences have no log probabilities: leave it out.")
    if request.response_format and request.response_format.type != "text":
        raise UnsupportedParameterError(
            "response_format", "Answers are sentences of the sources, not JSON: leave it out, or ask for `text`."
        )
    if request.modalities and request.modalities != ["text"]:
        raise UnsupportedParameterError("modalities", "Answers are text only.")
    for param, choice in (("tool_choice", request.tool_choice), ("function_call", request.function_call)):
        if choice not in (None, "none", "auto"):
            raise UnsupportedParameterError(param, "Tools of the client are never called, so none can be required.")


def read_conversation(request: CompletionRequest) -> ToldConversation:
    """Raises InvalidMessagesError, also for images, sound and files: only text can be asked."""
    instructions: list[str] = []
    said: list[ModelMessage] = []
    for at, message in enumerate(request.messages):
        text = _text_of(message, at)
        if message.role in ("system", "developer"):
            instructions.append(text)
        elif message.role == "user":
            said.append(ModelMessage("user", text))
        elif message.role == "assistant":
            said.append(ModelMessage("assistant", text))
    if not said or said[-1].role != "user":
        raise InvalidMessagesError("messages", "The last message must be the user's: it is what is answered.")
    earlier = tuple(message for message in said[:-1] if message.content.strip())
    return ToldConversation(question=said[-1].content, earlier=earlier, instructions=client_instructions(instructions))


def _text_of(message: CompletionMessage, at: int) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    return "\n".join(_part_text(part, f"messages.{at}.content.{number}") for number, part in enumerate(message.content))


def _part_text(part: ContentPart, where: str) -> str:
    text = part.refusal if part.type == "refusal" else part.text
    if part.type not in ("text", "refusal") or text is None:
        raise InvalidMessagesError(where, "Only text can be asked: leave out images, sound and files.")
    return text
