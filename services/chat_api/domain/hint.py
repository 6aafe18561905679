"""The hint that something exists out of reach: existence, source system, and a contact where the store names one."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from services.chat_api.domain.grounding.language import Language
from services.chat_api.domain.texts import text_for


class HintSource(BaseModel):
    model_config = ConfigDict(frozen=True)

    source_system: str
    contact: str | None = None


class Hint(BaseModel):
    """What stays hidden, never by title, content, record id or count."""

    model_config = ConfigDict(frozen=True)

    text: str
    withheld: tuple[HintSource, ...]


def make_hint(sources: Sequence[HintSource], language: Language) -> Hint:
    """The same bytes for the same hidden sources and language, whatever the question's wording."""
    unique = sorted(set(sources), key=lambda source: (source.source_system, source.contact or ""))
    lines = [text_for("withheld", language), *(_line(source, language) for source in unique)]
    return Hint(text=" ".join(lines), withheld=tuple(unique))


def _line(source: HintSource, language: Language) -> str:
    if source.contact is None:
        return text_for("withheld_system", language, system=source.source_system)
    return text_for("withheld_contact", language, system=source.source_system, contact=source.contact)
