"""Where a passage speaks of what is asked, and how near to it each of its places is."""

import math
from collections.abc import Iterable, Iterator, Sequence

from services.chat_api.domain.grounding.alignment import related
from services.chat_api.domain.grounding.asking import PAIR, AskedQuestion
from services.chat_api.domain.grounding.evidence import Evidence, PreparedPassage
from services.chat_api.domain.grounding.tokens import CALENDAR, CAPITAL, IDENTIFIER, NAME, NUMBER, WORD, Token

_NEIGHBOUR_SHARE = 0.25
_PRONOUN_SHARE = 0.6
_CLAUSE_COST = 1.5
_HALF_WAY = 3.0
_HAN_SCALE = 2.5
_LEAST_SENTENCES = 3
_LEAST_TOGETHER = 0.6
_MOST_WORDS = 9
_FIRST_STEP = 0.2


def family(token: Token) -> int:
    """Tokens of one family can stand in each other's place: 1 numbers and dates, 2 names and identifiers, 0 none."""
    if token.kind in (NUMBER, CALENDAR):
        return 1
    if token.kind == IDENTIFIER or (token.kind == WORD and token.case >= CAPITAL):
        return 2
    return 0


class QuestionMap:
    """For one question and one passage. Shares and nearness are 0..1 of what the passage has of the question."""

    def __init__(self, question: AskedQuestion, passage: PreparedPassage) -> None:
        self._passage = passage
        self._asked_keys = question.keys
        self._scale = _HAN_SCALE if passage.data.code == "zh" else 1.0
        self._places: list[dict[int, str]] = [{} for _ in passage.sentences]
        weights = dict(question.words)
        for word in weights:
            for number, place in _find(word, passage):
                self._places[number].setdefault(place, word)
        self._words = len(weights)
        self._weights = self._rarity(weights)
        self._total = sum(self._weights.values())
        self._about = [self._share(number) for number in range(len(passage.sentences))]
        self._most_about = max(self._about, default=0.0)
        self._nearest: float | None = None
        self._strongest: dict[int, list[tuple[float, int, int, int]]] = {}

    @property
    def in_one_place(self) -> bool:
        """Whether the passage could speak of the question in one place and not of the answer: one of two sentences
        has no other place, and a question of many words, or spread over many sentences, is told in several."""
        if len(self._places) < _LEAST_SENTENCES or self._words > _MOST_WORDS * self._scale:
            return False
        most = max((self._sum(set(places.values())) for places in self._places), default=0.0)
        return most >= _LEAST_TOGETHER * self._total

    @property
    def known(self) -> bool:
        """Whether the passage has any word of the question."""
        return self._total > 0

    def about(self, number: int) -> float:
        """How much sentence `number` is about the question, against the sentence that is it most."""
        return self._about[number] / self._most_about if self._most_about else 0.0

    def nearness(self, number: int, span: Sequence[int]) -> float:
        """How close to the question's words these tokens of a sentence stand."""
        tokens = self._passage.sentences[number].said.tokens
        best: dict[str, float] = {}
        for place, word in self._places[number].items():
            if place in span:
                continue
            there = min(span, key=lambda at: abs(at - place)) if len(span) > 1 else span[0]
            distance = abs(there - place) / self._scale
            distance += _CLAUSE_COST * abs(tokens[place].clause - tokens[there].clause)
            near = self._weights[word] / (1 + distance / _HALF_WAY)
            if near > best.get(word, 0.0):
                best[word] = near
        return sum(best.values()) / self._total

    def bridged(self, number: int, answer: frozenset[str]) -> bool:
        """Whether the question is told in two steps: sentence `number` tells what another one lacks, and both name
        somebody who is neither asked about nor the answer ("the university that she leads": Duluth)."""
        own = set(self._places[number].values())
        names = self._bridges(number) - answer
        for other, places in enumerate(self._places):
            theirs = set(places.values())
            tells_more = self._sum(theirs - own) > _FIRST_STEP * self._total
            if other != number and tells_more and own - theirs and names & self._bridges(other):
                return True
        return False

    def _bridges(self, number: int) -> set[str]:
        tokens = self._passage.sentences[number].said.tokens
        return {token.key for token in tokens if token.case == NAME and token.key not in self._asked_keys}

    def nearest(self) -> float:
        """The nearness of the best place of the whole passage."""
        if self._nearest is None:
            self._nearest = max((self.nearness(number, (at,)) for number, at in self._edges()), default=0.0)
        return self._nearest

    def rival(self, kind: int, number: int, span: Sequence[int]) -> float:
        """The nearness and share of the best other token of the same family."""
        if kind not in self._strongest:
            self._strongest[kind] = self._rank(kind)
        for value, there, first, last in self._strongest[kind]:
            if there != number or not any(first <= at <= last for at in span):
                return value
        return 0.0

    def _rank(self, kind: int) -> list[tuple[float, int, int, int]]:
        found = []
        for number, evidence in enumerate(self._passage.sentences):
            for first, last in self._runs(evidence, number, kind):
                value = self.nearness(number, range(first, last + 1)) + self.about(number) / 2
                found.append((value, number, first, last))
        return sorted(found, key=lambda entry: -entry[0])

    def _runs(self, evidence: Evidence, number: int, kind: int) -> Iterator[tuple[int, int]]:
        asked = self._places[number]
        first = -1
        for i, token in enumerate(evidence.said.tokens):
            belongs = family(token) == kind and i not in asked
            if belongs and first < 0:
                first = i
            elif not belongs and first >= 0:
                yield first, i - 1
                first = -1
        if first >= 0:
            yield first, len(evidence.said.tokens) - 1

    def _rarity(self, weights: dict[str, float]) -> dict[str, float]:
        sentences = len(self._places)
        holding: dict[str, int] = {}
        for places in self._places:
            for word in set(places.values()):
                holding[word] = holding.get(word, 0) + 1
        return {word: weights[word] * math.log(1 + (sentences + 1) / (count + 0.5)) for word, count in holding.items()}

    def _share(self, number: int) -> float:
        own = set(self._places[number].values())
        before = set().union(*(places.values() for places in self._places[max(0, number - 2) : number])) - own
        carried = _PRONOUN_SHARE if self._passage.sentences[number].said.pronoun else _NEIGHBOUR_SHARE
        return self._sum(own) + carried * self._sum(before)

    def _sum(self, words: Iterable[str]) -> float:
        return sum(self._weights[word] for word in words)

    def _edges(self) -> Iterator[tuple[int, int]]:
        for number, places in enumerate(self._places):
            size = len(self._passage.sentences[number].said.tokens)
            edges = {at for place in places for at in (place - 1, place + 1) if 0 <= at < size and at not in places}
            yield from ((number, at) for at in edges)


def _find(word: str, passage: PreparedPassage) -> Iterator[tuple[int, int]]:
    """(sentence, place) of a word of the question, of its family where the word itself is absent."""
    if word.startswith(PAIR):
        first, second = word[len(PAIR)], word[len(PAIR) + 1]
        for number in passage.sentences_of.get(first, ()):
            positions = passage.sentences[number].said.positions
            after = positions.get(second, ())
            yield from ((number, place) for place in positions[first] if place + 1 in after)
        return
    keys = [word]
    if len(word) >= 4:
        keys += [key for key in passage.beginnings.get(word[:3], ()) if key != word and related(word, key)]
    for key in keys:
        for number in passage.sentences_of.get(key, ()):
            yield from ((number, place) for place in passage.sentences[number].said.positions[key])
