"""A sentence as the checks see it: its content tokens in order, and where negations and strict words stand."""

from dataclasses import dataclass, field

from services.chat_api.domain.grounding.tokens import WORD, Token


@dataclass(slots=True)
class Analysed:
    """Marks are (index of the next content token, clause); `opposed` are (word with an opposite, index).

    `joints` are the tokens before which a clause or a coordinated part begins, `parts` those after a conjunction,
    `determined` those after an article or the like.
    """

    text: str
    tokens: list[Token] = field(default_factory=list)
    negations: list[tuple[int, int]] = field(default_factory=list)
    strict: list[tuple[str, int, int]] = field(default_factory=list)
    opposed: list[tuple[str, int]] = field(default_factory=list)
    determined: set[int] = field(default_factory=set)
    joints: set[int] = field(default_factory=set)
    parts: set[int] = field(default_factory=set)
    passive: bool = False
    pronoun: bool = False
    positions: dict[str, list[int]] = field(default_factory=dict)
    by_beginning: dict[str, list[int]] = field(default_factory=dict)
    long_words: list[int] = field(default_factory=list)

    def index_as_evidence(self) -> None:
        """What only the evidence side of a comparison needs."""
        for i, token in enumerate(self.tokens):
            if token.kind == WORD and len(token.key) >= 4:
                self.by_beginning.setdefault(token.key[:3], []).append(i)
                self.long_words.append(i)

    def index(self) -> None:
        positions = self.positions
        for i, token in enumerate(self.tokens):
            for key in (token.key, *token.others) if token.others else (token.key,):
                places = positions.get(key)
                if places is None:
                    positions[key] = [i]
                else:
                    places.append(i)
