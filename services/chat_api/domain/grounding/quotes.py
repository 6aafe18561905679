"""Quoting instead of answering: the sentences of the packed passages that fit the question best.

Used when no model is configured, and when the gate has held back every sentence of one. Deterministic.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.chat_api.domain.grounding.alignment import related
from services.chat_api.domain.grounding.analysis import Analysed, analyse
from services.chat_api.domain.grounding.evidence import Evidence, PreparedPassage, prepare_passage
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.language_data.loader import LanguageData, load_language
from services.chat_api.domain.grounding.markup import plain
from services.chat_api.domain.grounding.tokens import CALENDAR, HANCHAR, IDENTIFIER, NAME, NUMBER, Token
from services.chat_api.domain.grounding.transliteration import sound_key
from services.chat_api.domain.passages import Passage

_LEAST_COVERED = 0.28
_LEAST_KNOWN = 0.35
_NO_NAME_COST = 0.2
_NEAR_BEST = 0.8
_SAME = 0.8
_SHORT_ITEM = 60
_CONTEXT_SHARE = 0.8
_RANK_COST = 0.04
_FIRST_BONUS = 0.12
_LEAD_SENTENCES = 2
_PAIR = "han:"
_ANSWERS_BONUS = 0.2
_PART_SHARE = 0.6
_PART_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Quote:
    """`text` is one or more sentences of the chunk, verbatim but for list and table marks."""

    n: int
    chunk_id: str
    text: str


@dataclass(frozen=True, slots=True)
class _Scored:
    score: float
    covered: float
    passage: Passage
    evidence: Evidence
    order: tuple[int, int]


def best_quotes(question: str, passages: Sequence[Passage], limit: int = 3) -> list[Quote]:
    """Best first, at most `limit`, no near-duplicates; `[]` when nothing is quotable.

    A quote far under the best is left out: one good sentence is better than three weak ones. Passages in another
    language than the question are quoted only if none in its own language is quotable: their first sentences, where
    they share numbers, identifiers or names with it.
    """
    code = detect_language(question)
    prepared = [(passage, prepare_passage(passage.text, passage.title)) for passage in passages]
    own = [(passage, ready) for passage, ready in prepared if ready.data.code == code]
    asked = _Asked(question, load_language(code), [ready for _passage, ready in own])
    scored = [entry for rank, (passage, ready) in enumerate(own) for entry in asked.score(passage, ready, rank)]
    chosen = _choose(scored, limit)
    if chosen:
        return [Quote(entry.passage.n, entry.passage.chunk_id, _shown(entry.evidence)) for entry in chosen]
    return _foreign_quotes(question, [pair for pair in prepared if pair[1].data.code != code])


def _choose(scored: list[_Scored], limit: int) -> list[_Scored]:
    ranked = sorted(scored, key=lambda entry: (-entry.score, entry.order))
    chosen: list[_Scored] = []
    for entry in ranked:
        if len(chosen) == limit or entry.covered < _LEAST_COVERED or entry.score < _NEAR_BEST * ranked[0].score:
            break
        if not any(_alike(entry.evidence, other.evidence) for other in chosen):
            chosen.append(entry)
    return chosen


class _Asked:
    """The question's content words with their weights: a word that many sentences hold tells little."""

    def __init__(self, question: str, data: LanguageData, prepared: Sequence[PreparedPassage]) -> None:
        self._data = data
        said = analyse(question, data)
        sentences = sum(len(ready.sentences) for ready in prepared) or 1
        self._weights: dict[str, float] = {}
        for key, weight in _asked_keys(_content(said, data)):
            holding = sum(_count(ready, key) for ready in prepared)
            self._weights[key] = weight * math.log(2 + sentences / (1 + max(holding, 2)))
        self._pairs = {(a.key, b.key) for a, b in pairwise(said.tokens)}
        self._total = sum(self._weights.values())
        self._names = {token.key for token in said.tokens if token.case == NAME or token.kind == IDENTIFIER}
        self._wants = _wanted_kinds(question, data)

    def score(self, passage: Passage, ready: PreparedPassage, rank: int) -> Iterator[_Scored]:
        if not self._total or self._off_topic(ready):
            return
        for number, evidence in enumerate(ready.sentences):
            # What a document quotes, a pasted mail for one, is not what the document says.
            if evidence.quoted or not evidence.said.tokens or evidence.text.rstrip().endswith("?"):
                continue
            covered = self._covered(evidence, ready.data) / self._total
            bonus = _ANSWERS_BONUS if self._answers(evidence) else 0.0
            pairs = sum((a.key, b.key) in self._pairs for a, b in pairwise(evidence.said.tokens))
            # The first sentence under a heading that repeats the question is where its answer stands.
            first = _FIRST_BONUS if number == 0 and self._weights.keys() & evidence.context else 0.0
            score = covered + (bonus + first + 0.04 * min(pairs, 5)) * (covered > 0) - _RANK_COST * min(rank, 10)
            yield _Scored(score, covered, passage, evidence, (rank, number))

    def _off_topic(self, ready: PreparedPassage) -> bool:
        """Whether the passage as a whole lacks too much of the question, or every name in it."""
        known = sum(weight for key, weight in self._weights.items() if _holds(ready, key))
        if self._names and not any(_holds(ready, key) for key in self._names):
            known -= _NO_NAME_COST * self._total
        return known < _LEAST_KNOWN * self._total

    def _covered(self, evidence: Evidence, data: LanguageData) -> float:
        found = 0.0
        positions = evidence.said.positions
        for key, weight in self._weights.items():
            if key in positions or (key.startswith(_PAIR) and key[len(_PAIR) :] in evidence.text):
                found += weight
            elif any(related(key, evidence.said.tokens[j].key) for j in evidence.said.by_beginning.get(key[:3], ())):
                found += weight * 0.9
            elif key in evidence.context or (evidence.said.pronoun and key in evidence.earlier):
                found += weight * _CONTEXT_SHARE
            elif data.code == "de" and _shares_part(key, evidence):
                found += weight * _PART_SHARE
        return found

    def _answers(self, evidence: Evidence) -> bool:
        for token in evidence.said.tokens:
            if token.key in self._weights:
                continue
            if "number" in self._wants and token.kind == NUMBER:
                return True
            if "date" in self._wants and (token.kind == CALENDAR or _is_year_or_time(token)):
                return True
            if "name" in self._wants and (token.case == NAME or "·" in evidence.text):
                return True
        return False


def _asked_keys(tokens: list[Token]) -> Iterator[tuple[str, float]]:
    """Words by their stems; Chinese by pairs of neighbours, since a lone character is in every text."""
    for i, token in enumerate(tokens):
        if token.kind != HANCHAR:
            yield token.key, _token_weight(token)
        elif i + 1 < len(tokens) and tokens[i + 1].kind == HANCHAR and tokens[i + 1].start == token.start + 1:
            yield f"{_PAIR}{token.key}{tokens[i + 1].key}", 1.0


def _count(ready: PreparedPassage, key: str) -> int:
    if key.startswith(_PAIR):
        return ready.flat_text.count(key[len(_PAIR) :])
    return len(ready.sentences_of.get(key, ()))


def _holds(ready: PreparedPassage, key: str) -> bool:
    if key.startswith(_PAIR):
        return key[len(_PAIR) :] in ready.flat_text
    if ready.data.code == "de" and len(key) > _PART_LENGTH and any(key[:_PART_LENGTH] in other for other in ready.keys):
        return True
    return key in ready.keys or any(related(key, other) for other in ready.beginnings.get(key[:3], ()))


def _shares_part(key: str, evidence: Evidence) -> bool:
    """German compounds: "Urlaubstage" and "Jahresurlaub" are about one thing."""
    if len(key) <= _PART_LENGTH:
        return any(evidence.said.tokens[j].key.endswith(key) for j in evidence.said.long_words if len(key) >= 4)
    part = key[:_PART_LENGTH]
    return any(part in evidence.said.tokens[j].key for j in evidence.said.long_words)


def _content(said: Analysed, data: LanguageData) -> list[Token]:
    return [token for token in said.tokens if not token.framing]


def _token_weight(token: Token) -> float:
    return 1.5 if token.kind in (NUMBER, CALENDAR) or token.case == NAME else 1.0


def _wanted_kinds(question: str, data: LanguageData) -> set[str]:
    lowered = question.casefold()
    return {kind for kind, words in data.asking.items() if any(re.search(word, lowered) for word in words)}


def _is_year_or_time(token: Token) -> bool:
    return token.kind == NUMBER and (token.key.startswith("t") or (len(token.key) == 5 and token.key[1:].isdigit()))


def _alike(left: Evidence, right: Evidence) -> bool:
    ours, theirs = left.said.positions.keys(), right.said.positions.keys()
    return len(ours & theirs) >= _SAME * min(len(ours), len(theirs))


def _shown(evidence: Evidence) -> str:
    text = " ".join(plain(evidence.text).split())
    if evidence.heading and len(text) < _SHORT_ITEM and not evidence.table:
        return f"{evidence.heading.rstrip(':： ')}: {text}"
    return text


def _foreign_quotes(question: str, prepared: list[tuple[Passage, PreparedPassage]]) -> list[Quote]:
    asked = _crossing_keys(analyse(question, load_language(detect_language(question))))
    best: tuple[int, int] | None = None
    for rank, (_passage, ready) in enumerate(prepared):
        shared = len(asked & frozenset().union(*(_crossing_keys(e.said) for e in ready.sentences)))
        if shared and (best is None or shared > best[0]):
            best = (shared, rank)
    if best is None:
        return []
    passage, ready = prepared[best[1]]
    lead = [evidence for evidence in ready.sentences if evidence.said.tokens and not evidence.quoted][:_LEAD_SENTENCES]
    ranked = sorted(ready.sentences, key=lambda evidence: -len(asked & _crossing_keys(evidence.said)))
    return [Quote(passage.n, passage.chunk_id, " ".join(_shown(evidence) for evidence in lead))] if ranked else []


def _crossing_keys(said: Analysed) -> frozenset[str]:
    """What looks the same in every language: numbers, identifiers, and names by their sound."""
    keys = set()
    for token in said.tokens:
        if token.kind in (NUMBER, CALENDAR) or token.key.startswith("id:"):
            keys.add(token.key)
        elif token.case and len(token.surface) > 3:
            keys.add(sound_key(token.surface))
    return frozenset(keys)
