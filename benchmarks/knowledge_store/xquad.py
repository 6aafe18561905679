"""XQuAD as folders to ingest and questions with their passage. Read from where the data lies, never copied."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

LANGUAGES = ("en", "de", "ru", "zh")
DATA = Path(__file__).parents[3] / "shared" / "data" / "xquad"


class _Asked(BaseModel):
    question: str


class _Paragraph(BaseModel):
    context: str
    qas: list[_Asked]


class _Article(BaseModel):
    paragraphs: list[_Paragraph]


class _File(BaseModel):
    data: list[_Article]


@dataclass(frozen=True, slots=True)
class Question:
    """`file` is the name of the file that holds the answer, in the question's language."""

    language: str
    article: int
    text: str
    file: str


def passages(language: str) -> dict[str, tuple[int, str]]:
    """File name to (article, text), 120 per language."""
    return {
        f"{language}-{article:02d}-{n}.txt": (article, paragraph.context)
        for article, entry in enumerate(_articles(language))
        for n, paragraph in enumerate(entry.paragraphs)
    }


def questions(language: str, per_passage: int) -> list[Question]:
    return [
        Question(language, article, qa.question, f"{language}-{article:02d}-{n}.txt")
        for article, entry in enumerate(_articles(language))
        for n, paragraph in enumerate(entry.paragraphs)
        for qa in paragraph.qas[:per_passage]
    ]


def write_folder(folder: Path, languages: tuple[str, ...], parity: int, access: str) -> int:
    """Write every article whose number is even (`parity` 0) or odd (1); returns the number of passages."""
    folder.mkdir(parents=True)
    (folder / "_access.yaml").write_text(access)
    chosen = {
        name: text
        for language in languages
        for name, (article, text) in passages(language).items()
        if article % 2 == parity
    }
    for name, text in chosen.items():
        (folder / name).write_text(text)
    return len(chosen)


def _articles(language: str) -> list[_Article]:
    return _File.model_validate_json((DATA / f"xquad.{language}.half.json").read_bytes()).data
