"""What the gate lets through, what it holds back and why, and what supports a citation."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

# Which sentences a configured judge is asked about: those in another language than their passages, or every one.
JudgeScope = Literal["other_language", "all"]


class RejectionReason(StrEnum):
    """Why a sentence was held back; the trace stores it beside the sentence's hash."""

    UNKNOWN_NUMBER = "unknown_number"
    UNKNOWN_NAME = "unknown_name"
    UNKNOWN_IDENTIFIER = "unknown_identifier"
    UNIT_CHANGED = "unit_changed"
    SLOT_CHANGED = "slot_changed"
    LOW_COVERAGE = "low_coverage"
    UNMATCHED_CLAUSE = "unmatched_clause"
    NEGATION_CHANGED = "negation_changed"
    STRENGTH_CHANGED = "strength_changed"
    POLARITY_CHANGED = "polarity_changed"
    WRONG_CITATION = "wrong_citation"
    FOREIGN_MARKER = "foreign_marker"
    OTHER_LANGUAGE = "other_language"
    INSTRUCTION_FOLLOWED = "instruction_followed"
    JUDGE_REJECTED = "judge_rejected"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    UNSUPPORTED_FRAMING = "unsupported_framing"
    MARKUP = "markup"
    TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a judge is asked about: one sentence without its markers, and the packed texts that it cites."""

    sentence: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReleasedText:
    """`text` is appended to the answer as it is: separator, sentence, and its markers as `[n]` or `[1][2]`.

    With a `claim` it goes out only after a judge has said yes; `frames` is the part of `text` that leads in.
    """

    text: str
    citations: tuple[int, ...]
    claim: Claim | None = None
    frames: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A held-back sentence, by the SHA-256 (hex) of its text, never the text itself."""

    sentence_hash: str
    reason: RejectionReason
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """The chunk of a cited record that supports the answer best, and its evidence sentence, verbatim."""

    chunk_id: str
    quote: str
