"""What happened in a turn, noted while it runs: the source of the stored message and of every event."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.grounding.release import Rejection
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.model_call import Purpose
from services.chat_api.domain.outcome import Outcome
from services.chat_api.domain.passages import Passage
from services.chat_api.domain.pricing import Money
from services.chat_api.domain.prompts import PromptVersion
from services.chat_api.domain.ranking import Candidate
from services.chat_api.domain.turn_events import Notice
from shared.events.retrieved import RetrievalOutcome
from shared.events.run import RunOutcome


@dataclass(frozen=True, slots=True)
class TurnSubject:
    """Whose turn it is and where it belongs. The owner is a user id, or `anonymous:…` for somebody unknown."""

    message_id: UUID
    conversation_id: UUID
    owner_id: str
    department: str | None


@dataclass(frozen=True, slots=True)
class ModelRun:
    """One provider call that was really made. Times in milliseconds. `price` None: it is not known.

    `model` is the one that answered, `asked_model` the one that was asked, which may be a shorter name for it.
    """

    prompt: PromptVersion
    provider: str
    model: str
    outcome: RunOutcome
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    estimated: bool
    latency_ms: int
    first_token_ms: int | None
    input_hash: str
    output_hash: str
    at: datetime
    purpose: Purpose = "answer"
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    asked_model: str = ""
    price: Money | None = None


@dataclass(slots=True)
class RetrievalRecord:
    query: str
    outcome: RetrievalOutcome
    at: datetime
    store_id: str | None = None
    knowledge_version: int | None = None
    cache_hit: bool = False
    fault: str | None = None
    candidates: tuple[Candidate, ...] = ()
    timings_ms: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class TurnRecord:
    """Filled by the running turn, read once when it is finalised."""

    outcome: Outcome = "failed"
    model: str = ""
    text: list[str] = field(default_factory=list)
    runs: list[ModelRun] = field(default_factory=list)
    retrieval: RetrievalRecord | None = None
    passages: tuple[Passage, ...] = ()
    citations: tuple[Citation, ...] = ()
    hint: Hint | None = None
    notices: list[Notice] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def content(self) -> str:
        return "".join(self.text)

    @property
    def answered_by(self) -> str | None:
        """The model of the last call, not counting a judge's."""
        return next((run.model for run in reversed(self.runs) if run.purpose != "judge"), None)

    @property
    def input_tokens(self) -> int:
        return sum(run.input_tokens for run in self.runs)

    @property
    def output_tokens(self) -> int:
        return sum(run.output_tokens for run in self.runs)
