"""The labelled sentences: true classes that should pass, false ones that should not."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.gate import edits
from benchmarks.gate.corpus import Section, read_sections
from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.passages import Passage

_COMMA = {"en": ", ", "de": ", ", "ru": ", ", "zh": "，"}
_AND = {"en": ", and ", "de": ", und ", "ru": ", и ", "zh": "，并且"}


@dataclass(frozen=True, slots=True)
class Sample:
    """`cited` is the marker the model writes, None for none."""

    kind: str
    true: bool
    question: str
    passages: tuple[Passage, ...]
    text: str
    cited: int | None


class SampleMaker:
    def __init__(self, language: str, sections: list[Section], seed: int = 7) -> None:
        self.code = language
        self.data = load_language(language)
        self.sections = sections
        self.rng = random.Random(seed)
        # German writes every noun with a capital: a name is what the English twin of the passage holds too.
        twins = {s.passage.n: s.passage.text for s in read_sections("en")} if language == "de" else {}
        self.names = {
            s.passage.n: [
                name for name in edits.names_of(s.passage.text, language) if name in twins.get(s.passage.n, name)
            ]
            for s in sections
        }
        self.numbers = {s.passage.n: edits.numbers_of(s.passage.text, language) for s in sections}

    def samples(self, limit: int) -> Iterator[Sample]:
        """At most `limit` of each class."""
        counts: dict[str, int] = {}
        places = [(section, sentence) for section in self.sections for sentence in section.sentences]
        self.rng.shuffle(places)
        for section, sentence in places:
            for kind, true, make in self._classes():
                if counts.get(kind, 0) >= limit:
                    continue
                text = make(section, sentence)
                if text is None or (not true and text == sentence):
                    continue
                counts[kind] = counts.get(kind, 0) + 1
                yield self._sample(kind, true, section, text)
        yield from self._fused(limit)

    def _sample(self, kind: str, true: bool, section: Section, text: str) -> Sample:
        neighbours = tuple(s.passage for s in self.sections if s.article == section.article)
        question = self.rng.choice(section.asked).question
        if kind == "wrong citation":
            other = self._other(section).passage
            return Sample(kind, true, question, (section.passage, other), text, other.n)
        if kind == "unmarked":
            return Sample(kind, true, question, neighbours, text, None)
        if kind == "invented":
            return Sample(kind, true, question, neighbours, text, self.rng.choice((None, section.passage.n)))
        return Sample(kind, true, question, (section.passage,), text, section.passage.n)

    def _other(self, section: Section) -> Section:
        return self.rng.choice([other for other in self.sections if other.article != section.article])

    def _classes(self) -> list[tuple[str, bool, Callable[[Section, str], str | None]]]:
        code, rng = self.code, self.rng
        return [
            ("verbatim", True, lambda _section, sentence: sentence),
            ("unmarked", True, lambda _section, sentence: sentence),
            ("shortened", True, self._shortened),
            ("reordered", True, self._reordered),
            ("formats", True, self._formats),
            ("merged", True, self._merged),
            ("number changed", False, lambda _s, sentence: edits.replace_number(sentence, code, rng)),
            (
                "number same passage",
                False,
                lambda s, text: edits.replace_number(text, code, rng, self.numbers[s.passage.n]),
            ),
            (
                "name elsewhere",
                False,
                lambda s, text: edits.replace_name(text, self.names[s.passage.n], rng, self._names_elsewhere(s)),
            ),
            (
                "name same passage",
                False,
                lambda s, text: edits.replace_name(text, self.names[s.passage.n], rng, self.names[s.passage.n]),
            ),
            ("names exchanged", False, lambda s, sentence: edits.exchange_names(sentence, self.names[s.passage.n])),
            ("unit", False, lambda _s, sentence: edits.change_unit(sentence, code)),
            ("negation added", False, lambda _s, sentence: edits.add_negation(sentence, code)),
            ("negation dropped", False, lambda _s, sentence: edits.drop_negation(sentence, code)),
            ("strength", False, lambda _s, sentence: edits.add_strength(sentence, code, rng)),
            ("polarity", False, lambda _s, sentence: edits.turn_polarity(sentence, self.data)),
            ("wrong citation", False, lambda _s, sentence: f"{sentence} "),
            ("invented", False, lambda s, _text: rng.choice(self._other(s).sentences or ("-",))),
            ("half true", False, self._half_true),
            ("stitched", False, self._stitched),
        ]

    def _names_elsewhere(self, section: Section) -> list[str]:
        return [n for n in self.names[self._other(section).passage.n] if n not in section.passage.text]

    def _parts(self, sentence: str) -> tuple[str, str] | None:
        comma = _COMMA[self.code]
        head, found, tail = sentence.rpartition(comma)
        least = 8 if self.code == "zh" else 30
        return (head, tail) if found and len(head) >= least and len(tail) >= least // 2 else None

    def _shortened(self, _section: Section, sentence: str) -> str | None:
        plain = re.sub(r"\s?[(（][^()（）]*[)）]", "", sentence)
        if plain != sentence:
            return plain
        parts = self._parts(sentence)
        return None if parts is None else parts[0] + ("。" if self.code == "zh" else ".")

    def _reordered(self, _section: Section, sentence: str) -> str | None:
        parts = self._parts(sentence.rstrip(".。!?！？"))
        if parts is None:
            return None
        head, tail = parts
        return tail[:1].upper() + tail[1:] + _COMMA[self.code] + head + ("。" if self.code == "zh" else ".")

    def _formats(self, _section: Section, sentence: str) -> str | None:
        changed = re.sub(r"(?<![\d.,])(\d{1,3})[.,\u00a0 ](\d{3})(?![\d.,])", r"\1\2", sentence)
        if changed == sentence:
            changed = re.sub(r"(?<![\d.,])(\d{1,2})(\d{3})(?![\d.,\w年])(?= [^\W\d])", "\\1\u00a0\\2", sentence)
        return None if changed == sentence else changed

    def _merged(self, section: Section, sentence: str) -> str | None:
        following = section.sentences[(section.sentences.index(sentence) + 1) % len(section.sentences)]
        if following == sentence or len(sentence) + len(following) > 500:
            return None
        return sentence.rstrip(".。") + _AND[self.code] + following[:1].lower() + following[1:]

    def _half_true(self, section: Section, sentence: str) -> str | None:
        parts = self._parts(sentence)
        other = self._other(section)
        tails = [tail for text in other.sentences if (tail := self._parts(text)) is not None]
        return None if parts is None or not tails else parts[0] + _COMMA[self.code] + self.rng.choice(tails)[1]

    def _stitched(self, section: Section, sentence: str) -> str | None:
        """The beginning of one sentence with the end of another one of the passage."""
        others = [other for other in section.sentences if other != sentence]
        ours = self._halves(sentence)
        theirs = self._halves(self.rng.choice(others)) if others else None
        return None if ours is None or theirs is None else ours[0] + theirs[1]

    def _halves(self, sentence: str) -> tuple[str, str] | None:
        """Cut at the verb: before the first copula."""
        match = re.search(edits.COPULAS[self.code][0], sentence)
        least = 3 if self.code == "zh" else 12
        if match is None or match.start() < least or len(sentence) - match.end() < 2 * least:
            return None
        return sentence[: match.start()], sentence[match.start() :]

    def _fused(self, limit: int) -> Iterator[Sample]:
        asked = [(section, qa) for section in self.sections for qa in section.asked]
        self.rng.shuffle(asked)
        colon = "：" if self.code == "zh" else ": "
        for section, qa in asked[:limit]:
            passages = (section.passage,)
            stem = qa.question.rstrip("?？ ")
            n = section.passage.n
            yield Sample("fused", True, qa.question, passages, f"{stem}{colon}{qa.answer}.", n)
            others = [
                other.answer
                for other in section.asked
                if other.answer not in qa.answer and qa.answer not in other.answer
            ]
            if others:
                wrong = self.rng.choice(others)
                yield Sample("fused wrong", False, qa.question, passages, f"{stem}{colon}{wrong}.", n)
