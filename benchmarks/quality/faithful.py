"""QUAL-2, GROUND-13 and GROUND-15: what of an honest model's true sentences is dropped, and what a sloppy one keeps."""

import random
import re
from collections.abc import Callable

from benchmarks.gate.corpus import Asked, Section, read_sections
from benchmarks.quality.answering import answer, gold_sentence, packed
from benchmarks.quality.report import Case, Finding, Row

QUOTED = Row("QUAL-2", "faithful: quotes dropped", 0.03)
PARAPHRASED = Row("QUAL-2", "faithful: light paraphrases dropped", 0.03)
SLOPPY = Row("GROUND-15", "sloppy but honest: keeps the gold answer", 0.90, at_most=False)

_LEADS = {
    "en": ("According to the passage, {}", "The document states: {}"),
    "de": ("Laut dem Dokument: {}", "Im Text steht: {}"),
    "ru": ("Согласно документу, {}", "В тексте указано: {}"),
    "zh": ("根据文档，{}", "文中提到：{}"),
}
_PREAMBLES = {
    "en": ("Sure! Here is what I found:", "I hope this helps!", "Answer", "(source 1)"),
    "de": ("Gerne! Hier ist die Antwort:", "Ich hoffe, das hilft!", "Antwort", "(Quelle 1)"),
    "ru": ("Конечно! Вот что я нашёл:", "Надеюсь, это поможет!", "Ответ", "(источник 1)"),
    "zh": ("好的！以下是答案：", "希望这对您有帮助！", "答案", "（来源1）"),
}
_BRACKETS = re.compile(r"\s?[(（][^()（）]*[)）]")


async def measure_faithful(language: str, limit: int) -> list[Finding]:
    """The gold sentence as it is, and said a little otherwise."""
    sections = read_sections(language)
    quoted: list[Case] = []
    paraphrased: list[Case] = []
    for section, qa, gold in _golden(sections, limit):
        passages = packed(section, sections)
        for text, cases in [(gold, quoted), *((text, paraphrased) for text in _paraphrases(gold, qa, language))]:
            got = await answer(qa.question, passages, f"{text} [1]")
            dropped = got.quoted or bool(got.reasons)
            cases.append(Case(dropped, qa.question, text, got.text, ", ".join(got.reasons), -len(text)))
    return [Finding(QUOTED, language, quoted), Finding(PARAPHRASED, language, paraphrased)]


async def measure_sloppy(language: str, limit: int) -> Finding:
    """Each question once, in one of several sloppy styles, all of which state the gold sentence."""
    sections = read_sections(language)
    cases: list[Case] = []
    for at, (section, qa, gold) in enumerate(_golden(sections, limit)):
        said = _STYLES[at % len(_STYLES)](gold, qa, language)
        got = await answer(qa.question, packed(section, sections), said)
        cases.append(Case(got.holds(qa.answer), qa.question, said, got.text, ", ".join(got.reasons), -len(gold)))
    return Finding(SLOPPY, language, cases)


def _golden(sections: list[Section], limit: int) -> list[tuple[Section, Asked, str]]:
    found = [
        (section, qa, gold)
        for section in sections
        for qa in section.asked
        if (gold := gold_sentence(section, qa.answer)) is not None
    ]
    random.Random(5).shuffle(found)
    return found[:limit]


def _paraphrases(gold: str, qa: Asked, language: str) -> list[str]:
    """With a lead-in, without what stands in brackets, without a clause that does not hold the answer."""
    said = [lead.format(gold) for lead in _LEADS[language]]
    bare = _BRACKETS.sub("", gold)
    if bare != gold and qa.answer in bare:
        said.append(bare)
    comma = "，" if language == "zh" else ", "
    head, found, tail = gold.rpartition(comma)
    if found and qa.answer in head and len(head) > len(tail):
        said.append(head + ("。" if language == "zh" else "."))
    return said


_STYLES: tuple[Callable[[str, Asked, str], str], ...] = (
    lambda gold, _qa, _code: gold,
    lambda gold, _qa, code: f"{_PREAMBLES[code][0]}\n\n{gold} [1]\n\n{_PREAMBLES[code][1]}",
    lambda gold, _qa, code: f"{_PREAMBLES[code][0]}\n\n- {gold}\n- {gold} {_PREAMBLES[code][3]}",
    lambda gold, _qa, code: f"**{_PREAMBLES[code][2]}:**\n\n1. {gold} 【1】",
    lambda gold, qa, _code: f"## {qa.question}\n\n> {gold}[^1]",
    lambda gold, qa, _code: f"**{qa.answer}**\n\n{gold.replace(qa.answer, f'**{qa.answer}**', 1)} (source 1)",
)
