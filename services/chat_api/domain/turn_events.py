"""What a running turn tells its client, before any wire format."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.outcome import Outcome

Stage = Literal["reading", "searching", "answering"]
NoticeCode = Literal["conversational", "quoted", "model_replaced", "source_unreachable"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    message_id: UUID
    conversation_id: UUID
    model: str


@dataclass(frozen=True, slots=True)
class StageReached:
    stage: Stage


@dataclass(frozen=True, slots=True)
class Notice:
    code: NoticeCode
    text: str


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    text: str


@dataclass(frozen=True, slots=True)
class SourcesCited:
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class HintGiven:
    hint: Hint


@dataclass(frozen=True, slots=True)
class TokenUsage:
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is stored. `tokens_used` counts input and output of every model call of the turn; `usage` is the same
    apart, and None when a turn is told again."""

    outcome: Outcome
    model: str
    tokens_used: int
    usage: TokenUsage | None


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The closing event of a turn that failed; `code` is stable, `text` is for the person who asked."""

    code: str
    text: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class TurnInterrupted:
    """Stopped by its owner or by a shutdown; what was released is stored."""


TurnEvent = (
    TurnStarted
    | StageReached
    | Notice
    | AnswerDelta
    | SourcesCited
    | HintGiven
    | TurnFinished
    | TurnFailed
    | TurnInterrupted
)
