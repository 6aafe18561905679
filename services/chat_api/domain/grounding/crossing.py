"""A sentence held against a passage in another language: what can be checked strictly, and nothing more.

Numbers, dates, units and identifiers look alike in every language once they are read; names are compared by their
spelling, their sound across scripts, or a table. Whether there is a negation is compared with the sentence of the
passage that holds most of these. What the other words say is not judged here: that is left to a judge.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from services.chat_api.domain.grounding.analysis import Analysed, analyse
from services.chat_api.domain.grounding.claims import CLAIM_REASONS, COUNTERS
from services.chat_api.domain.grounding.evidence import Evidence, prepare_passage
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.language_data.loader import LanguageData, fold, load_language
from services.chat_api.domain.grounding.release import RejectionReason
from services.chat_api.domain.grounding.tokens import (
    CALENDAR,
    CAPITAL,
    HANCHAR,
    IDENTIFIER,
    INITIAL,
    NAME,
    NUMBER,
    WORD,
    Token,
)
from services.chat_api.domain.grounding.translated_names import rows_in_han, rows_of_word
from services.chat_api.domain.grounding.transliteration import sound_key

_UNIT = "u:"
_REASONS = {**CLAIM_REASONS, WORD: RejectionReason.UNKNOWN_NAME}
_LONGEST_HAN_NAME = 3
_LONG_WORD = 5
_SOUND_LENGTH = 5


@dataclass(frozen=True, slots=True)
class Anchor:
    """Something that the passage must hold: any of its `marks` will do."""

    kind: int
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence reduced to what looks alike in every language."""

    anchors: tuple[Anchor, ...]
    sounds: frozenset[str]
    units: tuple[tuple[str, frozenset[str]], ...]
    measures: frozenset[str]
    negated: bool
    unknown_name: bool


@dataclass(frozen=True, slots=True)
class ForeignSentence:
    evidence: Evidence
    marks: frozenset[str]
    sounds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A passage reduced likewise: `marks` counts what stands where, `units` maps a number to its units."""

    marks: Counter[str]
    units: dict[str, set[str]]
    measures: frozenset[str]
    sentences: tuple[ForeignSentence, ...]


@dataclass(frozen=True, slots=True)
class Crossing:
    """`reason` is the first strict check that failed; `evidence` the sentence that holds most, None if none does."""

    reason: RejectionReason | None
    evidence: Evidence | None = None
    held: int = 0


def cross(sentence: str, text: str, title: str) -> Crossing:
    """Holds the sentence against one passage of another language."""
    said, there = _read_sentence(sentence), _read_passage(text, title)
    reason = _missing(said, there) or _unit_changed(said, there)
    if reason is not None:
        return Crossing(reason)
    wanted = [anchor.marks for anchor in said.anchors]
    near = [
        (sum(bool(marks & one.marks) for marks in wanted), len(said.sounds & one.sounds)) for one in there.sentences
    ]
    best = max(near, default=(0, 0))
    nearest = [one.evidence for one, count in zip(there.sentences, near, strict=True) if count == best]
    like = [evidence for evidence in nearest if bool(evidence.said.negations) == said.negated]
    if not like:
        return Crossing(RejectionReason.NEGATION_CHANGED)
    return Crossing(None, like[0] if best[0] else None, best[0])


def _missing(said: Said, there: Foreign) -> RejectionReason | None:
    used: Counter[str] = Counter()
    for anchor in said.anchors:
        known = [mark for mark in anchor.marks if there.marks[mark] > used[mark]]
        if not known:
            return _REASONS[anchor.kind]
        if anchor.kind == NUMBER:
            used.update(known)
    return RejectionReason.UNKNOWN_NAME if said.unknown_name else None


def _unit_changed(said: Said, there: Foreign) -> RejectionReason | None:
    for unit, marks in said.units:
        theirs = {one for mark in marks for one in there.units.get(mark, ())}
        bare = not unit and theirs == {"percent"}
        if bare or (unit and unit not in theirs and (theirs - {""} or unit not in there.measures | COUNTERS)):
            return RejectionReason.UNIT_CHANGED
    return None if said.measures <= there.measures else RejectionReason.UNIT_CHANGED


@lru_cache(maxsize=1_024)
def _read_sentence(sentence: str) -> Said:
    data = load_language(detect_language(sentence))
    said = analyse(sentence, data)
    anchors = [
        Anchor(token.kind, _marks_of(token, data, asked=True))
        for i, token in enumerate(said.tokens)
        if _strict(said, i, data)
    ]
    han = rows_in_han(said.text)
    anchors += [Anchor(WORD, frozenset(f"={row}" for row in rows)) for rows in han.values()]
    numbers = [(i, token) for i, token in enumerate(said.tokens) if token.kind == NUMBER]
    return Said(
        anchors=tuple(anchors),
        sounds=_sounds_of(said),
        units=tuple((_unit_of(said.tokens, i), frozenset({one.key, *one.others})) for i, one in numbers),
        measures=_free_measures(said) - COUNTERS,
        negated=bool(said.negations),
        unknown_name=data.code == "zh" and _spells_foreign_name(said, frozenset("".join(han)), data),
    )


@lru_cache(maxsize=512)
def _read_passage(text: str, title: str) -> Foreign:
    ready = prepare_passage(text, title)
    marks: Counter[str] = Counter()
    units: dict[str, set[str]] = {}
    measures: set[str] = set()
    sentences: list[ForeignSentence] = []
    titled = analyse(title, ready.data)
    for evidence, said in [(None, titled), *((one, one.said) for one in ready.sentences)]:
        found = [mark for token in said.tokens for mark in _marks_of(token, ready.data, asked=False)]
        found += [f"={row}" for rows in rows_in_han(said.text).values() for row in rows]
        marks.update(found)
        if evidence is not None:
            sentences.append(ForeignSentence(evidence, frozenset(found), _sounds_of(said)))
        measures |= {token.key[len(_UNIT) :] for token in said.tokens if token.key.startswith(_UNIT)}
        for i, token in enumerate(said.tokens):
            if token.kind == NUMBER:
                measures.add(token.unit)
                for key in (token.key, *token.others):
                    units.setdefault(key, set()).add(_unit_of(said.tokens, i))
    return Foreign(marks, units, frozenset(measures), tuple(sentences))


def _marks_of(token: Token, data: LanguageData, *, asked: bool) -> frozenset[str]:
    """What a token is compared by across languages: `asked` for the sentence's, else what the passage offers.

    Within one script a name is spelled alike or translated; only across scripts does its sound count.
    """
    if token.kind in (NUMBER, IDENTIFIER):
        return frozenset({token.key, *token.others})
    if token.kind == CALENDAR:
        return frozenset({_weekday(token, data)})
    if token.kind == HANCHAR or token.key.startswith(_UNIT):
        return frozenset()
    word = fold(token.surface)
    marks = {f"={row}" for row in rows_of_word(word, data.code)} | {word, word.removesuffix("s")}
    if token.case and len(word) > 2:
        script = "cyrillic" if ("а" <= word[0] <= "я") != asked else "latin"
        marks |= {f"{script}{sound_key(form)}" for form in (word, data.stem(word))}
    return frozenset(marks)


def _sounds_of(said: Analysed) -> frozenset[str]:
    """How its longer words begin, by their sound: many are alike in two languages ("organisms", "организмы")."""
    words = (token.surface for token in said.tokens if token.kind == WORD and len(token.surface) >= _LONG_WORD)
    return frozenset(sound_key(word)[:_SOUND_LENGTH] for word in words)


def _weekday(token: Token, data: LanguageData) -> str:
    return f"d{data.weekdays.index(token.key) % 7}" if token.key in data.weekdays else token.key


def _strict(said: Analysed, i: int, data: LanguageData) -> bool:
    token = said.tokens[i]
    if token.kind in (NUMBER, CALENDAR, IDENTIFIER):
        return True
    return token.kind == WORD and not token.key.startswith(_UNIT) and _is_name(said, i, data)


def _is_name(said: Analysed, i: int, data: LanguageData) -> bool:
    """A capital within the sentence. German writes every noun so, and any first word has one: there it takes a
    capitalised neighbour, as in "Anna Schmidt", or a row of the table."""
    token = said.tokens[i]
    if token.case == NAME or (token.case and rows_of_word(token.surface, data.code)):
        return True
    word = fold(token.surface)
    if token.case not in (INITIAL, CAPITAL) or word in data.ordinary or word in data.framing:
        return False
    if token.case == INITIAL and word.endswith(data.noun_endings):
        return False
    return any(_touches(said, i, k) for k in (i - 1, i + 1)) and i not in said.determined


def _touches(said: Analysed, i: int, k: int) -> bool:
    if not 0 <= k < len(said.tokens):
        return False
    first, second = said.tokens[min(i, k)], said.tokens[max(i, k)]
    other = said.tokens[k]
    apart = second.start - first.start - len(first.surface)
    return other.kind == WORD and other.case >= CAPITAL and not other.key.startswith(_UNIT) and apart <= 1


def _unit_of(tokens: list[Token], i: int) -> str:
    """Without the "year" and "day" that some languages write into a date."""
    token = tokens[i]
    if token.unit == "year" and len(token.key) == len("#2026"):
        return ""
    near = tokens[max(0, i - 2) : i + 3]
    return "" if token.unit == "day" and any(one.kind == CALENDAR for one in near) else token.unit


def _free_measures(said: Analysed) -> frozenset[str]:
    free = set()
    for i, token in enumerate(said.tokens):
        bound = i > 0 and said.tokens[i - 1].kind == NUMBER and said.tokens[i - 1].unit == token.key[len(_UNIT) :]
        if token.key.startswith(_UNIT) and not bound:
            free.add(token.key[len(_UNIT) :])
    return frozenset(free)


def _spells_foreign_name(said: Analysed, known: frozenset[str], data: LanguageData) -> bool:
    """A Chinese spelling of a foreign name that is in no table: nothing here can compare it."""
    if "·" in said.text:
        return True
    run = 0
    for token in said.tokens:
        spells = token.kind == HANCHAR and token.key in data.transliteration and token.key not in known
        run = run + 1 if spells else 0
        if run >= _LONGEST_HAN_NAME:
            return True
    return False
