"""Answers in another language than their passages: what of a parallel text reaches the judge, and what never does."""

import random

from benchmarks.gate import edits
from benchmarks.gate.corpus import read_sections
from benchmarks.quality.lying import holds_unknown_number
from benchmarks.quality.report import LANGUAGES, Case, Finding, Row
from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.passages import Passage

TRUE = Row("ADR-5", "other language: true ones that reach the judge")
NUMBERS = Row("ADR-5", "other language: unknown numbers that reach it", 0.0)
NAMES = Row("ADR-5", "other language: names from elsewhere that reach it")
NEGATIONS = Row("ADR-5", "other language: added negations that reach it", 0.15)


def measure_crossing(language: str, limit: int) -> list[Finding]:
    """`language` is the answer's; its sentences are held against the parallel passages of the other languages."""
    sections = read_sections(language)
    rng = random.Random(3)
    cases: dict[Row, list[Case]] = {row: [] for row in (TRUE, NUMBERS, NAMES, NEGATIONS)}
    places = [(at, sentence) for at, section in enumerate(sections) for sentence in section.sentences]
    rng.shuffle(places)
    parallel = {code: read_sections(code) for code in LANGUAGES if code != language}
    for at, sentence in places[:limit]:
        section = sections[at]
        passage = rng.choice(list(parallel.values()))[at].passage
        foreign = edits.names_of(rng.choice(sections).passage.text, language)
        tried = {
            TRUE: sentence,
            NUMBERS: edits.replace_number(sentence, language, rng),
            NAMES: edits.replace_name(sentence, edits.names_of(section.passage.text, language), rng, foreign),
            NEGATIONS: edits.add_negation(sentence, language),
        }
        for row, text in tried.items():
            # A number that happens to stand elsewhere in the passage is the judge's to notice.
            if text and (row is not NUMBERS or holds_unknown_number(text, passage.text)):
                cases[row].append(_try(section.asked[0].question, text, passage))
    return [Finding(row, language, found) for row, found in cases.items()]


def _try(question: str, text: str, passage: Passage) -> Case:
    gate = GroundingGate(question, (passage,), "other_language")
    released = gate.feed(f"{text} [{passage.n}]") + gate.finish()
    whole = bool(released) and not gate.rejections
    reasons = ", ".join(rejection.reason.value for rejection in gate.rejections)
    return Case(whole, question, text, passage.text, reasons, len(text))
