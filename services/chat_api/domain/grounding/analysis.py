"""From text to an analysed sentence."""

from services.chat_api.domain.grounding.analysed import Analysed
from services.chat_api.domain.grounding.language_data.loader import LanguageData
from services.chat_api.domain.grounding.number_reader import NumberReader
from services.chat_api.domain.grounding.pieces import Piece
from services.chat_api.domain.grounding.tokens import (
    CALENDAR,
    CAPITAL,
    HANCHAR,
    IDENTIFIER,
    INITIAL,
    NAME,
    NUMBER,
    ORDINARY,
    WORD,
    Token,
    normalise,
)

_SHORTEST_NAME = {"ru": 2, "en": 4}
_POLITE = ("вы", "вас", "вам", "ваш")
NUMBER_BOUND = frozenset({"at_least", "at_most", "more_than", "less_than", "almost"})

__all__ = ["Analysed", "analyse"]


def analyse(text: str, data: LanguageData, *, index: bool = True) -> Analysed:
    """`text` is one sentence, list item or table row, without markers. Only evidence needs an `index`."""
    text = normalise(text)
    reader = _Reader(text, data)
    reader.read()
    if index:
        reader.out.index()
    return reader.out


class _Reader(NumberReader):
    """Walks the pieces once."""

    def read(self) -> None:
        i = 0
        items = self.items
        size = len(items)
        breaks, tokens, joints = self.breaks, self.out.tokens, self.out.joints
        take_simple = self._take_simple
        while i < size:
            piece = items[i][0]
            if i in breaks:
                joints.add(len(tokens))
            if piece.simple:
                if piece.stop and not (piece.capital and self._stands_for_name(piece, i)):
                    self.after_determiner = piece.determiner
                else:
                    take_simple(i)
                i += 1
                continue
            if piece.digits or piece.value is not None or piece.month or piece.sign or piece.scale:
                used = self._take_date_word(i) or self._take_number(i)
            else:
                used = 0
            i += used or (piece.special and self._take_phrase(i)) or self._take_word(i)

    def _take_simple(self, i: int) -> None:
        """What most pieces are: a word or a character."""
        piece, clause, start = self.items[i]
        tokens = self.out.tokens
        if not piece.key:
            self.after_determiner = piece.determiner
        elif piece.han:
            self._add_characters(piece.surface, clause, start)
        else:
            case = self._case(piece, i) if piece.capital or piece.loud else ORDINARY
            if self.after_determiner:
                self.out.determined.add(len(tokens))
                self.after_determiner = case == ORDINARY
            amount = 2.0 if case == NAME else 1.0
            tokens.append(
                Token(WORD, piece.key, piece.surface, clause, start, (), "", case, False, amount, piece.framing)
            )

    def _take_phrase(self, i: int) -> int:
        piece, clause, _start = self.items[i]
        data = self.data
        if piece.folded in data.pronouns:
            self.out.pronoun = True
        if piece.folded in data.passive:
            self.out.passive = True
        if piece.folded in data.conjunctions:
            self.out.joints.add(len(self.out.tokens))
            self.out.parts.add(len(self.out.tokens))
        for words in data.neutral_phrases:
            if words[0] == piece.folded and self._matches(i, words):
                return len(words)
        for words, category in data.strict.get(piece.folded, ()):
            if self._matches(i, words) and (category not in NUMBER_BOUND or self._number_near(i + len(words))):
                self.out.strict.append((category, len(self.out.tokens), clause))
                return len(words)
        if piece.negation:
            self.out.negations.append((len(self.out.tokens), clause))
            return 1
        return 0

    def _matches(self, i: int, words: tuple[str, ...]) -> bool:
        return all(i + k < len(self.items) and self.items[i + k][0].folded == word for k, word in enumerate(words))

    def _number_near(self, i: int) -> bool:
        chinese = self.data.code == "zh"
        near = self.items[max(0, i - 4) : i + 4] if chinese else self.items[i : i + 2]
        return any(piece.digits or piece.value is not None or piece.sign for piece, _clause, _start in near)

    def _take_date_word(self, i: int) -> int:
        piece, clause, start = self.items[i]
        if not piece.month:
            return 0
        if not piece.sign:
            near = [self.items[k][0] for k in (i - 1, i + 1) if 0 <= k < len(self.items)]
            numbered = any(other.digits for other in near)
            clear = len(piece.folded) > 3 and piece.folded != "march" and (piece.capital or self.data.code == "ru")
            if not (numbered or (clear and i > 0)):
                return 0
        self._add(Token(CALENDAR, f"m{piece.month}", piece.surface, clause, start))
        return 1

    def _take_word(self, i: int) -> int:
        piece, clause, start = self.items[i]
        bound = bool(self.out.tokens) and self.out.tokens[-1].kind == NUMBER and self._after_number(i)
        named = piece.capital and self._stands_for_name(piece, i)
        if piece.unit and (bound or (len(piece.folded) > 2 and not piece.han and not named)):
            if piece.unit == "month" and piece.folded == "月" and bound:
                month = self.out.tokens.pop()
                self._add(Token(CALENDAR, month.key.replace("#", "m"), month.surface, clause, month.start))
            else:
                self._add(Token(WORD, f"u:{piece.unit}", piece.surface, clause, start))
            return 1
        if piece.key in self.data.polar:
            self.out.opposed.append((piece.key, len(self.out.tokens)))
        if not piece.key or (piece.stop and not named):
            self.after_determiner = piece.determiner
            return 1
        if piece.identifier:
            self._add(Token(IDENTIFIER, piece.key, piece.surface, clause, start, case=NAME))
        elif piece.han:
            self._add_han(piece, clause, start)
        else:
            case = self._case(piece, i)
            self._add(Token(WORD, piece.key, piece.surface, clause, start, case=case, framing=piece.framing))
        return 1

    def _add_han(self, piece: Piece, clause: int, start: int) -> None:
        if piece.folded in self.data.weekdays:
            self._add(Token(CALENDAR, piece.folded, piece.surface, clause, start))
            return
        self._add_characters(piece.surface, clause, start)

    def _add_characters(self, run: str, clause: int, start: int) -> None:
        for offset, char in enumerate(run):
            self.out.tokens.append(Token(HANCHAR, char, char, clause, start + offset, (), "", ORDINARY, False, 0.5))

    def _after_number(self, i: int) -> bool:
        before = self._next(i - 1)
        return before is not None and bool(before.digits or before.value is not None or before.scale)

    def _case(self, piece: Piece, i: int) -> int:
        if piece.loud:
            return NAME
        if not piece.capital:
            return ORDINARY
        if i == 0 or self._opens(self.items[i][2]):
            return INITIAL
        return CAPITAL if self.data.code == "de" else NAME

    def _stands_for_name(self, piece: Piece, i: int) -> bool:
        """Right after a word, Russian writes no small word with a capital but the polite "you" and names, and English
        only short ones in titles."""
        shortest = _SHORTEST_NAME.get(self.data.code)
        if shortest is None or len(piece.folded) < shortest or piece.folded.startswith(_POLITE):
            return False
        before = self.out.text[: self.items[i][2]].rstrip()
        return before[-1:].isalpha()

    def _opens(self, start: int) -> bool:
        text = self.out.text
        end = start - 1
        while end >= 0 and text[end].isspace():
            end -= 1
        return end < 0 or text[end] in ':"“„«*#|>'
