"""QUAL-1: a model that lies in every second sentence. What of it is released, judged by the lie and not by the gate."""

import random
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from benchmarks.gate import edits
from benchmarks.gate.corpus import Section, read_sections
from benchmarks.quality.answering import answer, packed
from benchmarks.quality.report import Case, Finding, Row
from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.passages import Passage

HARD = Row("QUAL-1", "lies: number, name, date, id not in the passage", 0.0)
OTHER = Row("QUAL-1", "lies: any other unsupported sentence", 0.01)
_DIGITS = re.compile(r"\d+(?:[.,\u00a0 ]\d{3})*(?:[.,]\d+)?")
_IDS = {"en": "See form", "de": "Siehe Formular", "ru": "См. форму", "zh": "参见表格"}


async def measure_lies(language: str, limit: int) -> list[Finding]:
    """`limit` turns of one true and several false sentences each."""
    sections = read_sections(language)
    rng = random.Random(11)
    asked = [(section, qa) for section in sections for qa in section.asked if section.sentences]
    rng.shuffle(asked)
    hard: list[Case] = []
    other: list[Case] = []
    for section, qa in asked[:limit]:
        passages = packed(section, sections)
        true = rng.choice(section.sentences)
        lies = list(_lies(true, section, sections, language, rng))
        said = " ".join([f"{true} [1]", *(f"{text} [1]" for text in lies)])
        got = await answer(qa.question, passages, said)
        for lie in lies:
            is_hard = _claims_the_unknown(lie, passages[0], language)
            out = got.holds(lie) and not _stands(lie, passages)
            case = Case(out, qa.question, lie, got.text, "released" if out else "", len(lie))
            (hard if is_hard else other).append(case)
    return [Finding(HARD, language, hard), Finding(OTHER, language, other)]


def _lies(true: str, section: Section, sections: Sequence[Section], language: str, rng: random.Random) -> Iterator[str]:
    stranger = rng.choice([one for one in sections if one.article != section.article and one.sentences])
    names, foreign = _names(section, language), _names(stranger, language)
    data = load_language(language)
    edited = (
        edits.replace_number(true, language, rng),
        edits.replace_name(true, names, rng, foreign),
        edits.change_unit(true, language),
        edits.add_negation(true, language),
        edits.drop_negation(true, language),
        edits.turn_polarity(true, data),
        rng.choice(stranger.sentences),
        f"{_IDS[language]} ZX-{rng.randint(100, 999)}.",
    )
    yield from (text for text in edited if text and text != true)


@lru_cache(maxsize=4)
def _english_twins() -> dict[int, str]:
    return {section.passage.n: section.passage.text for section in read_sections("en")}


def _names(section: Section, language: str) -> list[str]:
    """German writes every noun with a capital: a name is what the passage's English twin holds too."""
    found = edits.names_of(section.passage.text, language)
    return [name for name in found if language != "de" or name in _english_twins()[section.passage.n]]


def _claims_the_unknown(lie: str, passage: Passage, language: str) -> bool:
    """Told by plain text comparison, not by the gate's own reading."""
    text = f"{passage.title} {passage.text}"
    if "ZX-" in lie or holds_unknown_number(lie, text):
        return True
    return any(name not in text for name in edits.names_of(lie, language))


def holds_unknown_number(said: str, text: str) -> bool:
    """Whether it has digits that the text has not, grouping aside."""
    known = {_bare(found) for found in _DIGITS.findall(text)}
    return any(_bare(found) not in known for found in _DIGITS.findall(said))


def _bare(number: str) -> str:
    return re.sub(r"\D", "", number)


def _stands(text: str, passages: Sequence[Passage]) -> bool:
    return any(" ".join(text.split()) in " ".join(passage.text.split()) for passage in passages)
