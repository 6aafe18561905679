"""Quoting passages in another language than the question: by what looks the same in both."""

from collections.abc import Sequence

from services.chat_api.domain.grounding.analysis import Analysed, analyse
from services.chat_api.domain.grounding.evidence import Evidence, PreparedPassage
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.grounding.tokens import CALENDAR, NUMBER
from services.chat_api.domain.grounding.transliteration import sound_key

_LEAD_SENTENCES = 2


def foreign_lead(question: str, prepared: Sequence[PreparedPassage]) -> tuple[int, list[Evidence]] | None:
    """The index of the passage that shares most numbers, identifiers and names, and its first sentences."""
    asked = _crossing_keys(analyse(question, load_language(detect_language(question))))
    best: tuple[int, int] | None = None
    for rank, ready in enumerate(prepared):
        shared = len(asked & frozenset().union(*(_crossing_keys(evidence.said) for evidence in ready.sentences)))
        if shared and (best is None or shared > best[0]):
            best = (shared, rank)
    if best is None:
        return None
    sentences = prepared[best[1]].sentences
    lead = [evidence for evidence in sentences if evidence.said.tokens and not evidence.quoted][:_LEAD_SENTENCES]
    return (best[1], lead) if lead else None


def _crossing_keys(said: Analysed) -> frozenset[str]:
    keys = set()
    for token in said.tokens:
        if token.kind in (NUMBER, CALENDAR) or token.key.startswith("id:"):
            keys.add(token.key)
        elif token.case and len(token.surface) > 3:
            keys.add(sound_key(token.surface))
    return frozenset(keys)
