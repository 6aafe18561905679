"""What the gate lets through, what it holds back and why, and what supports a citation."""

from dataclasses import dataclass
from enum import StrEnum


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
    UNSUPPORTED_FRAMING = "unsupported_framing"
    MARKUP = "markup"
    TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class ReleasedText:
    """`text` is appended to the answer as it is: separator, sentence, and its markers as `[n]` or `[1][2]`."""

    text: str
    citations: tuple[int, ...]


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
