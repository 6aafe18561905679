"""Passages of XQuAD from the data folder beside the project, written as documents."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[3] / "shared" / "data" / "xquad"
LANGUAGES = ("en", "ru", "de", "zh")


@dataclass(frozen=True, slots=True)
class Question:
    language: str
    text: str
    answer: str
    document: str


def write_passages(folder: Path, *, articles: int, passages: int) -> list[Question]:
    """The first passages of the first articles in each language; returns the first question of each."""
    if not _FOLDER.is_dir():
        pytest.skip("the public test data (../shared/data/xquad) is not here")
    questions: list[Question] = []
    for language in LANGUAGES:
        data = json.loads((_FOLDER / f"xquad.{language}.half.json").read_text(encoding="utf-8"))["data"]
        for at, article in enumerate(data[:articles]):
            for number, paragraph in enumerate(article["paragraphs"][:passages]):
                name = f"{language}-{at}-{number}.md"
                text = paragraph["context"].lstrip("\ufeff")
                (folder / name).write_text(f"# {article['title']}\n\n{text}\n", encoding="utf-8")
                asked = paragraph["qas"][0]
                questions.append(Question(language, asked["question"], asked["answers"][0]["text"], name))
    return questions
