"""One sentence (or a part of it) held against one piece of evidence."""

from dataclasses import dataclass, field

from services.chat_api.domain.grounding.alignment import UNMATCHED, align, match_relatives
from services.chat_api.domain.grounding.analysed import Analysed
from services.chat_api.domain.grounding.asking import AskedQuestion
from services.chat_api.domain.grounding.evidence import Evidence, PreparedPassage
from services.chat_api.domain.grounding.language_data.loader import LanguageData
from services.chat_api.domain.grounding.tokens import Token


def echo_length(said: Analysed, question: AskedQuestion) -> int:
    """How many of the sentence's first tokens repeat the question ("How many points: 308"), 0 if it does not."""
    length = 0
    for token, asked in zip(said.tokens, question.sequence, strict=False):
        if token.key != asked:
            break
        length += 1
    return length if length >= 3 and length >= 0.7 * len(question.sequence) and length < len(said.tokens) else 0


@dataclass(slots=True)
class Comparison:
    """`at[i]` is the evidence token under token `first + i` of the sentence, or UNMATCHED; `placed` is its inverse."""

    said: Analysed
    evidence: Evidence
    passage: PreparedPassage
    question: AskedQuestion
    first: int
    last: int
    tokens: list[Token] = field(init=False)
    at: list[int] = field(init=False)
    placed: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = self.said.tokens[self.first : self.last]
        self.at = align(self.said, self.evidence.said, self.first, self.last)
        if UNMATCHED in self.at:
            match_relatives(self.tokens, self.evidence.said, self.at)
        self.placed = {place: i for i, place in enumerate(self.at) if place != UNMATCHED}

    @property
    def data(self) -> LanguageData:
        return self.passage.data

    @property
    def after_echo(self) -> bool:
        """Whether this is what follows the question, repeated as it is."""
        return self.first > 0 and echo_length(self.said, self.question) == self.first

    def in_context(self, key: str) -> bool:
        """Said by the title, a heading or the lead-in, or by an earlier sentence that a pronoun points to."""
        evidence = self.evidence
        return key in evidence.context or (evidence.said.pronoun and key in evidence.earlier)

    def asked(self, key: str) -> bool:
        return key in self.question.keys
