"""XQuAD questions with eight passages: the one that holds the answer and its nearest, or the nearest of other articles.

The nearest are found by shared stems, and no relevance floor keeps far ones away: harsher than what a store hands over.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.gate.corpus import Section, read_sections
from services.chat_api.domain.grounding.asking import read_question
from services.chat_api.domain.grounding.evidence import prepare_passage
from services.chat_api.domain.passages import Passage

PACKED = 8


@dataclass(frozen=True, slots=True)
class ArticleQuestion:
    """`answer` is empty where the article is held out."""

    text: str
    answer: str
    passages: tuple[Passage, ...]


class Nearest:
    """Passages ranked by the rarity of the question's words that they hold."""

    def __init__(self, sections: Sequence[Section], language: str) -> None:
        self._language = language
        self._sections = sections
        self._ready = [prepare_passage(section.passage.text, section.passage.title) for section in sections]
        self._holding = Counter(key for ready in self._ready for key in ready.keys)

    def rank(self, question: str, article: int, *, own: bool) -> list[Passage]:
        """All of them, or those of other articles only."""
        words = read_question(question, self._language).words
        scores = [
            (-sum(weight * self._rarity(key, at) for key, weight in words), at)
            for at, section in enumerate(self._sections)
            if own or section.article != article
        ]
        return [self._sections[at].passage for _score, at in sorted(scores)[:PACKED]]

    def _rarity(self, key: str, at: int) -> float:
        if key.startswith("han:"):
            return float(key[4:] in self._ready[at].flat_text)
        if key not in self._ready[at].keys:
            return 0.0
        return math.log(1 + len(self._sections) / self._holding[key])


def article_questions(language: str, per_passage: int, half: str) -> Iterator[ArticleQuestion]:
    sections = read_sections(language)
    nearest = Nearest(sections, language)
    for section in read_sections(language, half):
        for asked in section.asked[:per_passage]:
            ranked = nearest.rank(asked.question, section.article, own=True)
            if section.passage.text not in [passage.text for passage in ranked]:
                ranked[-1] = section.passage
            yield ArticleQuestion(asked.question, asked.answer, _numbered(ranked))
            others = nearest.rank(asked.question, section.article, own=False)
            yield ArticleQuestion(asked.question, "", _numbered(others))


def _numbered(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    return tuple(replace(passage, n=n) for n, passage in enumerate(passages, start=1))
