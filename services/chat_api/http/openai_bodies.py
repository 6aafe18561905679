"""The answers of the OpenAI chat completion API, whole and in pieces, with an object `achilles` of our own."""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome
from services.chat_api.http.openai_errors import OpenAiErrorBody

FinishReason = Literal["stop", "length"]


class UrlCitation(BaseModel):
    """`start_index` and `end_index` enclose the marker in the text, in characters (code points)."""

    url: str
    title: str
    start_index: int
    end_index: int


class Annotation(BaseModel):
    type: Literal["url_citation"]
    url_citation: UrlCitation


class Usage(BaseModel):
    """Of every model call of the turn together; nothing for an answer that is told again."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class NoticeBody(BaseModel):
    code: str
    text: str


class AchillesPart(BaseModel):
    """`outcome`, `hint`, `notices` and `tokens_used` are known at the end. `tokens_used` is what the message cost when
    it was written."""

    conversation_id: UUID
    message_id: UUID
    outcome: Outcome | None = None
    hint: Hint | None = None
    notices: tuple[NoticeBody, ...] = ()
    tokens_used: int | None = None


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    annotations: tuple[Annotation, ...] = ()
    refusal: None = None


class Choice(BaseModel):
    """`length` says that the answer was stopped before its end."""

    index: int = 0
    message: AnswerMessage
    finish_reason: FinishReason
    logprobs: None = None


class ChatCompletion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: Usage
    achilles: AchillesPart


class Delta(BaseModel):
    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: tuple[Annotation, ...] | None = None


class ChunkChoice(BaseModel):
    index: int
    delta: Delta
    finish_reason: FinishReason | None


class ChatCompletionChunk(BaseModel):
    """Encoded without what was not set: a client tells a null from an absent field."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    usage: Usage | None = None
    achilles: AchillesPart | None = None


class FailedTurnBody(OpenAiErrorBody):
    """An error, and which turn it ended."""

    achilles: AchillesPart


class ModelBody(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": {"id": "achilles", "object": "model", "created": 0}})

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "achilles"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelBody]
