"""Real passages and questions from the shared data folder, in four languages."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.grounding.segmenter import split_text
from services.chat_api.domain.passages import Passage

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
# The records glue sentences together: "the 19th century.First for Women is".
_GLUED = re.compile(r"(?<=[a-z0-9)\"])\.(?=[A-Z\"][a-z])")
LANGUAGES = ("en", "ru", "de", "zh")
HALVES = ("tuned", "held", "all")


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Section:
    """One passage of an article, its sentences and the questions on it."""

    article: int
    passage: Passage
    sentences: tuple[str, ...]
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Fusion:
    """A HaluEval record: its knowledge, and the question with a right and a hallucinated answer."""

    knowledge: Passage
    question: str
    right: str
    hallucinated: str


def read_sections(language: str, half: str = "all") -> list[Section]:
    """Those of one of `HALVES`: even articles were tuned on, odd ones held out."""
    raw = json.loads((DATA / "xquad" / f"xquad.{language}.half.json").read_text(encoding="utf-8"))
    data = load_language(language)
    sections: list[Section] = []
    for article, entry in enumerate(raw["data"]):
        for paragraph in entry["paragraphs"]:
            text = paragraph["context"].lstrip("\ufeff")
            n = len(sections) + 1
            asked = tuple(Asked(qa["question"], qa["answers"][0]["text"]) for qa in paragraph["qas"])
            passage = Passage(n, f"record-{n}", f"chunk-{n}", entry.get("title", ""), text, "", "xquad")
            sentences = tuple(segment.text for segment in split_text(text, data) if len(segment.text) > 25)
            sections.append(Section(article, passage, sentences, asked))
    return [s for s in sections if half == "all" or (s.article % 2 == 1) == (half == "held")]


def read_fusions() -> list[Fusion]:
    fusions: list[Fusion] = []
    for line in (DATA / "halueval" / "qa_one-turn_data.json").read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        text = _GLUED.sub(". ", raw["knowledge"])
        passage = Passage(1, "record", "chunk", "", text, "", "halueval")
        fusions.append(Fusion(passage, raw["question"], raw["right_answer"], raw["hallucinated_answer"]))
    return fusions
