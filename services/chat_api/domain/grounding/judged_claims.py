"""Which sentences a judge is asked about, and what it is shown.

A sentence in another language than its passages cannot be checked by its words. What looks alike in every language
stays strict (crossing.py); the rest is a judge's to say. Without a judge the sentence is held back.
"""

from collections.abc import Iterable
from dataclasses import replace

from services.chat_api.domain.grounding.cited_records import numbers_to_cite
from services.chat_api.domain.grounding.crossing import Crossing, cross
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.language_data.loader import LanguageData, load_language
from services.chat_api.domain.grounding.release import Claim, JudgeScope, RejectionReason
from services.chat_api.domain.grounding.support import SupportFinder
from services.chat_api.domain.grounding.verdicts import Backing, Source, Verdict

# What only a judge holds up is supported less than anything that the gate found by itself.
_BY_JUDGE = 0.0


# Reasons that say "not found here". The others say "said otherwise": enough words were found, so the language is known.
_NOT_FOUND = frozenset(
    {
        RejectionReason.UNKNOWN_NUMBER,
        RejectionReason.UNKNOWN_NAME,
        RejectionReason.UNKNOWN_IDENTIFIER,
        RejectionReason.LOW_COVERAGE,
        RejectionReason.UNMATCHED_CLAUSE,
        RejectionReason.OTHER_LANGUAGE,
    }
)


class JudgedClaims:
    def __init__(self, finder: SupportFinder, scope: JudgeScope | None) -> None:
        self._finder = finder
        self._scope = scope

    def language_of_answer(self, question: str) -> LanguageData:
        """The passages', since nothing else gets through; with a judge the question's."""
        asked = load_language(detect_language(question))
        languages = self._finder.languages
        return languages[0] if languages and not (self._scope and asked not in languages) else asked

    def of_supported(self, sentence: str, verdict: Verdict, cited: tuple[int, ...]) -> Verdict:
        """The verdict, with a claim where every sentence is judged, or where names and numbers alone carried one in
        another language. A verbatim sentence needs no judge."""
        if self._scope is None or any(_flat(one.quote) == _flat(sentence) for one in verdict.backing):
            return verdict
        numbers = numbers_to_cite(verdict, cited)
        chunks = {one.chunk_id for one in verdict.backing if one.n in numbers}
        shown = [source for source in self._finder.sources if source.passage.chunk_id in chunks]
        code = detect_language(sentence)
        if self._scope == "other_language" and all(source.data.code == code for source in shown):
            return verdict
        return replace(verdict, claim=Claim(sentence, _shown(shown)))

    def of_rejected(self, sentence: str, verdict: Verdict, cited: tuple[int, ...]) -> Verdict:
        """The verdict as it is, or a claim on the one cited passage in another language that holds all its anchors."""
        if self._scope is None or verdict.reason not in _NOT_FOUND:
            return verdict
        code = detect_language(sentence)
        allowed = [source for source in self._finder.sources if not cited or source.passage.n in cited]
        foreign = [source for source in allowed if source.data.code != code]
        crossed = [(source, cross(sentence, source.passage.text, source.passage.title)) for source in foreign]
        passed = [pair for pair in crossed if pair[1].reason is None]
        if passed:
            return _claim(sentence, *max(passed, key=lambda pair: pair[1].held))
        # Where no passage is in its language, what failed strictly tells more than what the words lack.
        return Verdict((), crossed[0][1].reason) if crossed and len(foreign) == len(allowed) else verdict


def _claim(sentence: str, source: Source, crossing: Crossing) -> Verdict:
    passage = source.passage
    quote = crossing.evidence.text if crossing.evidence else ""
    backing = Backing(passage.n, passage.chunk_id, quote, _BY_JUDGE)
    return Verdict((backing,), claim=Claim(sentence, _shown([source])))


def _shown(sources: Iterable[Source]) -> tuple[str, ...]:
    return tuple(f"{source.passage.title}\n{source.passage.text}".strip() for source in sources)


def _flat(text: str) -> str:
    return " ".join(text.split()).rstrip(".。!！")
