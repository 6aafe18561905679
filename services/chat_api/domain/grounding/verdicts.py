"""What a sentence is held against, and what came of it."""

from dataclasses import dataclass

from services.chat_api.domain.grounding.asking import AskedQuestion
from services.chat_api.domain.grounding.evidence import Evidence, PreparedPassage, on_one_line, prepare_passage
from services.chat_api.domain.grounding.language_data.loader import LanguageData
from services.chat_api.domain.grounding.question_map import QuestionMap
from services.chat_api.domain.grounding.release import Claim, RejectionReason
from services.chat_api.domain.passages import Passage


@dataclass(frozen=True, slots=True)
class Backing:
    """One evidence sentence of one packed chunk; `covered` is the share of the sentence it holds."""

    n: int
    chunk_id: str
    quote: str
    covered: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """`backing` is empty exactly when `reason` is set; `joined` tells that only all of it together supports. A `claim`
    is what a judge must still agree to."""

    backing: tuple[Backing, ...]
    reason: RejectionReason | None = None
    joined: bool = False
    claim: Claim | None = None


class Source:
    """A packed chunk, with the question as its language reads it. `data` is that language."""

    __slots__ = ("_asked", "_prepared", "data", "passage", "question")

    def __init__(self, passage: Passage, data: LanguageData, question: AskedQuestion) -> None:
        self.passage, self.data, self.question = passage, data, question
        self._prepared: PreparedPassage | None = None
        self._asked: QuestionMap | None = None

    @property
    def prepared(self) -> PreparedPassage:
        """Made when a sentence is first held against it: most packed chunks are never cited."""
        if self._prepared is None:
            self._prepared = prepare_passage(self.passage.text, self.passage.title)
        return self._prepared

    @property
    def flat_text(self) -> str:
        return on_one_line(self.passage.text)

    def asked(self) -> QuestionMap:
        """Made once, when the first sentence that repeats the question needs it."""
        if self._asked is None:
            self._asked = QuestionMap(self.question, self.prepared)
        return self._asked


@dataclass(slots=True)
class Candidate:
    """Sentence `number` of a chunk; `score` by the words it shares, `asked` by those of the question."""

    source: Source
    number: int
    evidence: Evidence
    score: float
    asked: float
