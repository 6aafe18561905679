"""Lead-ins, headings and list frames: they wait for the next supported item and never stand alone."""

from dataclasses import dataclass, field

from services.chat_api.domain.grounding.analysis import Analysed, analyse
from services.chat_api.domain.grounding.asking import AskedQuestion
from services.chat_api.domain.grounding.evidence import PreparedPassage
from services.chat_api.domain.grounding.tokens import CALENDAR, IDENTIFIER, NUMBER

_LONGEST_FRAME = 14


def frame_is_known(text: str, passage: PreparedPassage, question: AskedQuestion) -> bool:
    """Whether its content words stand in the question or the passage, and it claims nothing by itself.

    Numbers, negations and strict words make it a claim: then it must be supported as a sentence.
    """
    said = analyse(text, passage.data)
    if said.negations or said.strict or len(said.tokens) > _LONGEST_FRAME:
        return False
    return all(_known(said, i, passage, question) for i in range(len(said.tokens)))


def _known(said: Analysed, i: int, passage: PreparedPassage, question: AskedQuestion) -> bool:
    token = said.tokens[i]
    if token.kind in (NUMBER, IDENTIFIER, CALENDAR):
        return token.key in question.keys and token.key in passage.keys
    if token.key in passage.keys or token.key in question.keys:
        return True
    return token.framing


@dataclass(slots=True)
class PendingFrames:
    """Frames not yet released. A frame whose first item fell goes when the next frame comes."""

    texts: list[str] = field(default_factory=list)
    _item_fell: bool = False

    def add(self, text: str) -> None:
        if self._item_fell:
            self.clear()
        self.texts.append(text)

    def item_fell(self) -> None:
        self._item_fell = bool(self.texts)

    def take(self) -> str:
        text = "".join(self.texts)
        self.clear()
        return text

    def clear(self) -> None:
        self.texts.clear()
        self._item_fell = False
