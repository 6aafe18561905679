"""Invented numbers, dates, identifiers and units put into true sentences: none may come out.

What counts is the invented piece itself: the true rest of a sentence may pass where a stop cuts it off.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.gate.corpus import Section
from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.grounding.language_data.loader import LanguageData, load_language

_WRITTEN = re.compile(r"(?<![\w.,:/-])\d+(?:[.,]\d+)*(?![\w.,:/-]*\w)")
_HAN_WRITTEN = re.compile(r"(?<![\d.,])\d+(?:[.,]\d+)*(?![\d.,])")
_NO_MEASURES = ("item", "person", "clock", "occasion", "point")
_STYLES = ("{}", "{:,}", "{}.5", "{}%", "${}", "{} million", "~{}", "№ {}", "{}th")


@dataclass(slots=True)
class _Lie:
    text: str
    invented: str


@dataclass(slots=True)
class FuzzResult:
    tried: int = 0
    released: int = 0


class Fuzzer:
    def __init__(self, language: str, sections: list[Section], seed: int = 11) -> None:
        self.data: LanguageData = load_language(language)
        self.rng = random.Random(seed)
        self.places = [(section, text) for section in sections for text in section.sentences]
        self.months = [name for name in self.data.months if len(name) > 3] or ["月"]
        # "г" is a year and a gram.
        measures = {form: unit for form, unit in self.data.units.items() if unit not in _NO_MEASURES}
        self.units = {form: unit for form, unit in measures.items() if form.rstrip(".") != "г"}

    def run(self, count: int) -> dict[str, FuzzResult]:
        """`count` sentences of each kind; one that the sentence has no place for is tried on another."""
        kinds: dict[str, Callable[[str, str], _Lie | None]] = {
            "number": self._number,
            "date": self._date,
            "identifier": self._identifier,
            "unit": self._unit,
        }
        results = {}
        for kind, make in kinds.items():
            result = results[kind] = FuzzResult()
            for _ in range(40 * count):
                if result.tried == count:
                    break
                section, sentence = self.rng.choice(self.places)
                lie = make(sentence, section.passage.text)
                if lie is None:
                    continue
                result.tried += 1
                gate = GroundingGate(self.rng.choice(section.asked).question, (section.passage,))
                released = gate.feed(f"{lie.text} [{section.passage.n}]") + gate.finish()
                result.released += any(lie.invented in piece.text for piece in released)
        return results

    def _number(self, sentence: str, passage: str) -> _Lie | None:
        pattern = _HAN_WRITTEN if self.data.code == "zh" else _WRITTEN
        found = list(pattern.finditer(sentence))
        if not found:
            return None
        value = self.rng.randint(2, 10 ** self.rng.randint(1, 8))
        if re.sub(r"\D", "", str(value)) in re.sub(r"(?<=\d)[.,\s](?=\d)", "", passage):
            return None
        match = self.rng.choice(found)
        written = self.rng.choice(_STYLES).format(value)
        return _Lie(sentence[: match.start()] + written + sentence[match.end() :], written)

    def _date(self, sentence: str, passage: str) -> _Lie | None:
        year, day = self.rng.randint(1100, 2090), self.rng.randint(1, 28)
        if str(year) in passage:
            return None
        if self.data.code == "zh":
            return self._inserted(sentence, f"（{year}年{self.rng.randint(1, 12)}月{day}日）")
        month = self.rng.choice(self.months)
        forms = (f"{day} {month.capitalize()} {year}", f"{year}-{self.rng.randint(1, 12):02}-{day:02}", f"{year}")
        return self._inserted(sentence, f" ({self.rng.choice(forms)})")

    def _identifier(self, sentence: str, _passage: str) -> _Lie | None:
        n = self.rng.randint(1000, 99999)
        forms = (f"XR-{n}", f"v{n % 9}.{n % 7}.{n}", f"m{n}@evil.example", f"https://evil.example/{n}", f"ZQ{n}")
        return self._inserted(sentence, f" {self.rng.choice(forms)}")

    def _unit(self, sentence: str, passage: str) -> _Lie | None:
        space = r"\s?" if self.data.code == "zh" else r"\s"
        pattern = rf"(?<![A-Za-zА-я\d.,-])\d[\d.,]*{space}([^\W\d_]+)"
        found = [match for match in re.finditer(pattern, sentence) if self._unit_of(match.group(1))]
        if not found:
            return None
        match = self.rng.choice(found)
        old = self._unit_of(match.group(1)) or ""
        other = self.rng.choice(list(self.units))
        if self.units[other] == self.data.units[old] or other in passage:
            return None
        changed = sentence[: match.start(1)] + other
        return _Lie(changed + sentence[match.start(1) + len(old) :], changed[match.start() :])

    def _unit_of(self, word: str) -> str | None:
        if self.data.code != "zh":
            return word if word in self.units else None
        return next((word[:size] for size in (3, 2, 1) if word[:size] in self.units), None)

    def _inserted(self, sentence: str, text: str) -> _Lie:
        end = len(sentence.rstrip(".。!?！？"))
        return _Lie(sentence[:end] + text + sentence[end:], text.strip())
