"""How well a sentence of a packed passage fits a question.

The question's words weigh by their rarity among the packed sentences; a heading, a title or a lead-in lends its words
to the sentences under it. What is asked for, a date or a price, counts on top, and its absence against.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.chat_api.domain.grounding.alignment import related
from services.chat_api.domain.grounding.amounts import amounts_met
from services.chat_api.domain.grounding.analysis import analyse
from services.chat_api.domain.grounding.answer_kinds import answer_kinds
from services.chat_api.domain.grounding.asking import PAIR, read_question
from services.chat_api.domain.grounding.evidence import Evidence, PreparedPassage
from services.chat_api.domain.grounding.language_data.loader import LanguageData
from services.chat_api.domain.grounding.tokens import NUMBER

_LIGHT = 0.3
_RELATED = 0.9
_CONTEXT = 0.8
_PART = 0.6
_PART_LENGTH = 6
_KIND_WORD = 0.8
_KNOWN_SHARE = 0.8
_PAIR_SHARE = 0.14
_MOST_PAIRS = 4
_NO_NAME_COST = 0.25
_UNHEARD_COST = 0.75
_ONE_WORD_COST = 0.27
_TOKEN_COST = 0.013
_LONGEST = 40
_LEAST_KNOWN = 0.35
_NO_WORDS: frozenset[str] = frozenset()
_ANSWERS = 0.2
_FIRST = 0.12
_PAIRED = 0.04
_RANK_COST = 0.04


@dataclass(frozen=True, slots=True)
class Fit:
    """`score` ranks; `sure` tells that enough of the question is met for the sentence to be quoted at all.

    `kind` is how much it answers what is asked (0..1), or None if the question does not say; `keys` are the question's
    words that it covers.
    """

    score: float
    sure: bool
    kind: float | None
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Alike:
    """What stands for a word of the question in one passage; `pair` are the two characters of a Chinese one."""

    held: bool
    relatives: frozenset[str] = _NO_WORDS
    compounds: frozenset[str] = _NO_WORDS
    pair: str = ""


class QuestionFit:
    """Scores sentences for one question over the passages packed for it."""

    def __init__(self, question: str, data: LanguageData, prepared: Sequence[PreparedPassage]) -> None:
        self._data = data
        self._asked = read_question(question, data.code)
        self._kinds = answer_kinds(question, data)
        self._amounts = [token for token in analyse(question, data).tokens if token.kind == NUMBER and token.unit]
        sentences = sum(len(ready.sentences) for ready in prepared) or 1
        self._weights: dict[str, float] = {}
        self._telling: set[str] = set()
        for key, weight in self._asked.words:
            light = _LIGHT if key.removeprefix(PAIR) in data.light else 1.0
            if light == 1.0 and not key.startswith("u:"):
                self._telling.add(key)
            holding = sum(_count(ready, key) for ready in prepared)
            self._weights[key] = weight * light * math.log(2 + sentences / (1 + max(holding, 2)))
        self._unheard = {key for key in self._asked.names if not any(key in ready.keys for ready in prepared)}
        self._total = sum(self._weights.values())

    def fits(self, ready: PreparedPassage, rank: int) -> Iterator[tuple[int, Fit]]:
        """Of the sentences that may be quoted, with their numbers; `rank` is the passage's place, from 0."""
        alike = {key: _alike_words(key, ready) for key in self._weights}
        known = sum(weight for key, weight in self._weights.items() if alike[key].held or key in self._kinds.words)
        if not self._total or known < _LEAST_KNOWN * self._total:
            return
        strange = [name for name in self._asked.names if name in alike and not alike[name].held]
        nowhere = any(name in self._unheard for name in strange)
        sure = _KNOWN_SHARE * known / self._total - (_UNHEARD_COST if nowhere else _NO_NAME_COST if strange else 0.0)
        for number, evidence in enumerate(ready.sentences):
            # What a document quotes, a pasted mail for one, is not what the document says.
            if evidence.quoted or not evidence.said.tokens or evidence.text.rstrip().endswith("?"):
                continue
            yield number, self._fit(evidence, alike, sure, (rank, number))

    def _fit(self, evidence: Evidence, alike: Mapping[str, _Alike], known: float, order: tuple[int, int]) -> Fit:
        rank, number = order
        kind = self._kinds.strength(evidence.said, evidence.text, self._weights)
        shares = self._shares(evidence, alike, answered=bool(kind))
        covered = sum(shares.values()) / self._total
        pairs = sum((a.key, b.key) in self._asked.pairs for a, b in pairwise(evidence.said.tokens))
        # The first sentence under a heading that repeats the question is where its answer stands.
        first = _FIRST if number == 0 and self._weights.keys() & evidence.context else 0.0
        bonus = _ANSWERS * kind + first + _PAIRED * min(pairs, 5) if covered else 0.0
        return Fit(
            covered + bonus - _RANK_COST * min(rank, 10),
            self._certainty(covered, known, pairs, shares, evidence) >= self._data.sure,
            kind if self._kinds.wants else None,
            frozenset(shares),
        )

    def _certainty(self, covered: float, known: float, pairs: int, met: Collection[str], evidence: Evidence) -> float:
        """Whether the passage is about the question at all; long sentences hold many words by chance.

        The weights are fitted on half of the articles of a public question set, see `benchmarks/quotes`. What is
        enough is lower in Russian: where words inflect much, neighbours seldom match.
        """
        if self._telling and self._telling.isdisjoint(met):
            return 0.0
        lone = _ONE_WORD_COST if len(met) == 1 and len(self._weights) > 1 else 0.0
        by_chance = _TOKEN_COST * min(len(evidence.said.tokens), _LONGEST)
        return covered + known + _PAIR_SHARE * min(pairs, _MOST_PAIRS) - lone - by_chance

    def _shares(self, evidence: Evidence, alike: Mapping[str, _Alike], *, answered: bool) -> dict[str, float]:
        """By key, how much of its weight the sentence covers, by itself or through its context."""
        shares: dict[str, float] = {}
        said = evidence.said.positions.keys()
        met = amounts_met(self._amounts, evidence.said) if self._amounts else _NO_WORDS
        for key, weight in self._weights.items():
            words = alike[key]
            if key in said or (words.pair and words.pair in evidence.text):
                shares[key] = weight
            elif key in met or not words.relatives.isdisjoint(said):
                shares[key] = weight * _RELATED
            elif key in evidence.context or (evidence.said.pronoun and key in evidence.earlier):
                shares[key] = weight * _CONTEXT
            elif answered and key in self._kinds.words:
                shares[key] = weight * _KIND_WORD
            elif not words.compounds.isdisjoint(said):
                shares[key] = weight * _PART
        return shares


def _alike_words(key: str, ready: PreparedPassage) -> _Alike:
    if key.startswith(PAIR):
        pair = key[len(PAIR) :]
        return _Alike(pair in ready.flat_text, pair=pair)
    relatives = ready.data.forms.get(key, _NO_WORDS) & ready.keys
    if key.isalpha():
        relatives |= {other for other in ready.beginnings.get(key[:3], ()) if related(key, other)}
    compounds = _compounds(key, ready.keys) if ready.data.code == "de" else _NO_WORDS
    long = len(key) > _PART_LENGTH
    return _Alike(key in ready.keys or bool(relatives) or (long and bool(compounds)), relatives, compounds)


def _compounds(key: str, keys: Iterable[str]) -> frozenset[str]:
    """German compounds: "Urlaubstage" and "Jahresurlaub" are about one thing."""
    if len(key) > _PART_LENGTH:
        part = key[:_PART_LENGTH]
        return frozenset(other for other in keys if part in other)
    return frozenset(other for other in keys if len(key) >= 4 and other.endswith(key))


def _count(ready: PreparedPassage, key: str) -> int:
    if key.startswith(PAIR):
        return ready.flat_text.count(key[len(PAIR) :])
    return len(ready.sentences_of.get(key, ()))
