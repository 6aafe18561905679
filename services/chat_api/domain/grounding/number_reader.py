"""Numbers, times and amounts among the pieces of a sentence, with their scales and units."""

from decimal import Decimal

from services.chat_api.domain.grounding.analysed import Analysed
from services.chat_api.domain.grounding.language_data.loader import LanguageData
from services.chat_api.domain.grounding.numbers import han_number, may_follow, number_key, readings, sum_words
from services.chat_api.domain.grounding.pieces import Piece
from services.chat_api.domain.grounding.scanning import scan
from services.chat_api.domain.grounding.tokens import CALENDAR, HANCHAR, NUMBER, ORDINARY, WORD, Token, weight

_HALF_DAYS = frozenset({"pm", "am", "p.m", "a.m"})
_ARTICLE_UNITS = frozenset({"item", "person", "occasion", "point", ""})
# "Next year" and "that day" say 一 and count nothing.
_HAN_POINTERS = frozenset("下上同这那另每某")


class NumberReader:
    """Every `_take_*` answers how many pieces it used up, 0 for none."""

    def __init__(self, text: str, data: LanguageData) -> None:
        self.data = data
        self.items, self.breaks = scan(text, data)
        self.out = Analysed(text)
        self.after_determiner = False

    def _next(self, i: int) -> Piece | None:
        return self.items[i][0] if 0 <= i < len(self.items) else None

    def _add(self, token: Token) -> None:
        if token.kind == WORD and token.surface.casefold() in self.data.weekdays:
            token.kind, token.key = CALENDAR, f"d{self.data.weekdays.index(token.surface.casefold())}"
        if self.after_determiner:
            self.out.determined.add(len(self.out.tokens))
            self.after_determiner = token.kind == WORD and token.case == ORDINARY
        token.weight = weight(token)
        self.out.tokens.append(token)

    def _take_number(self, i: int) -> int:
        piece, clause, start = self.items[i]
        if piece.sign:
            return 1
        if piece.han:
            return self._take_han_number(i)
        if piece.digits == ":":
            following = self._next(i + 1)
            self._add(Token(NUMBER, _clock(piece.key, following), piece.surface, clause, start))
            return 2 if following is not None and following.folded in _HALF_DAYS else 1
        values, used = self._values(i)
        if not used:
            return self._take_bare_scale(i)
        used += self._scale_after(i + used, values)
        token = Token(NUMBER, number_key(values[0]), piece.surface, clause, start, ordinal=piece.ordinal)
        token.others = tuple(number_key(value) for value in values[1:]) + self._range_tail(i, piece)
        if piece.folded == "-" and piece.digits:
            token.key, token.others = token.key.replace("#", "#-"), ()
        used += self._bind_unit(i, i + used, token, piece)
        if piece.value == 1 and not token.unit and self._vague_one(i):
            return 0
        if piece.ordinal and piece.key in self.data.polar:
            self.out.opposed.append((piece.key, len(self.out.tokens)))
        self._add(token)
        return used

    def _take_bare_scale(self, i: int) -> int:
        """ "Millions of users" is a claim too."""
        piece, clause, start = self.items[i]
        if not piece.scale or piece.han:
            return 0
        self._add(Token(NUMBER, f"scale:{piece.scale}", piece.surface, clause, start))
        return 1

    def _vague_one(self, i: int) -> bool:
        """ "one of them" and the German article say no number."""
        following = self._next(i + 1)
        return (
            following is None
            or following.stop
            or self.data.code == "de"
            or (self.items[i][0].ordinal is False and following.folded == "another")
        )

    def _values(self, i: int) -> tuple[list[Decimal], int]:
        piece = self.items[i][0]
        if piece.digits:
            return list(readings(piece.digits, self.data.decimal)), 1
        if piece.value is None:
            return [], 0
        words, used = [piece.value], 1
        while not piece.ordinal and i + used not in self.breaks and (following := self._next(i + used)) is not None:
            number = following.value if following.value is not None else following.scale or None
            if number is None and following.folded == "and" and words[-1] >= 100 and self._value_at(i + used + 1):
                used += 1
                continue
            if number is None or following.digits or following.han or not may_follow(words[-1], number):
                break
            words.append(number)
            used += 1
        return [Decimal(sum_words(words))], used

    def _value_at(self, i: int) -> bool:
        piece = self._next(i)
        return piece is not None and piece.value is not None and not piece.digits

    def _scale_after(self, i: int, values: list[Decimal]) -> int:
        following = self._next(i)
        if following is None or not following.scale:
            return 0
        values[:] = [value * following.scale for value in values]
        return 1

    def _range_tail(self, i: int, piece: Piece) -> tuple[str, ...]:
        """ "1922–26" also says 1926."""
        before = self._next(i - 1)
        start = self.items[i][2]
        if before is None or len(piece.digits) != 2 or len(before.digits) != 4 or not before.digits.isdigit():
            return ()
        return (f"#{before.digits[:2]}{piece.digits}",) if self.out.text[start - 1] in "-–/" else ()

    def _bind_unit(self, first: int, end: int, token: Token, piece: Piece) -> int:
        before, following = self._next(first - 1), self._next(end)
        if before is not None and before.sign and not before.month and before.unit != "percent":
            token.unit = before.unit
        elif following is not None and following.folded in _HALF_DAYS and piece.digits:
            token.key = _clock(f"t{piece.digits or 0}:00", following)
            return 1
        elif following is not None and following.unit == "clock":
            token.key = _clock(
                "t" + (piece.digits.replace(".", ":") if "." in piece.digits else f"{piece.digits}:00"), None
            )
            token.others = ()
        elif following is not None and following.unit:
            token.unit = following.unit
        return 0

    def _take_han_number(self, i: int) -> int:
        piece, clause, start = self.items[i]
        if not piece.digits:
            return 0
        value = han_number(piece.digits)
        following, before = self._next(i + 1), self._next(i - 1)
        unit = following.unit if following is not None else ""
        ordinal = before is not None and before.folded == "第"
        percent = before is not None and before.folded == "百分之"
        alone = len(piece.digits) == 1 and not ordinal and not percent
        vague = value == 1 and (unit in _ARTICLE_UNITS or (before is not None and before.folded in _HAN_POINTERS))
        if value is None or (alone and (not unit or vague)):
            for offset, char in enumerate(piece.digits):
                self.out.tokens.append(Token(HANCHAR, char, char, clause, start + offset, weight=0.5))
            return 1
        if unit == "month" and following is not None and following.folded == "月":
            self._add(Token(CALENDAR, f"m{value}", piece.surface, clause, start))
            return 2
        token = Token(NUMBER, number_key(value), piece.surface, clause, start, ordinal=ordinal)
        token.unit = "percent" if percent else unit
        self._add(token)
        return 1


def _clock(key: str, following: Piece | None) -> str:
    hour, _, rest = key[1:].partition(":")
    value = int(hour or 0)
    if following is not None and following.folded in ("pm", "p.m") and value < 12:
        value += 12
    return f"t{value}:{rest}"
