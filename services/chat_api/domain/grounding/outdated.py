"""Which passages stand on a page that says itself that it was superseded."""

from services.chat_api.domain.grounding.evidence import PreparedPassage
from services.chat_api.domain.grounding.language_data.loader import LanguageData, fold
from services.chat_api.domain.passages import Passage


def is_outdated(passage: Passage, ready: PreparedPassage, question: str) -> bool:
    """By its title, its source or its text. A question that says the same of what it asks for wants just that page."""
    marked = _marks(f"{passage.title}\n{passage.source_system}\n{_first_line(passage.text)}", ready.data)
    if marked:
        asked = fold(question)
        return not any(word in asked for mark in marked for word in mark.split() if len(word) >= 4)
    return bool(ready.data.quoting["outdated_text"].search(fold(passage.text)))


def _marks(text: str, data: LanguageData) -> list[str]:
    return [match.group() for match in data.quoting["outdated"].finditer(fold(text))]


def _first_line(text: str) -> str:
    """The path of its headings, where there is one."""
    return text.split("\n", 1)[0] if text.startswith("#") else ""
