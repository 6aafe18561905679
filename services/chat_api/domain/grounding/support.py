"""Which packed record supports a sentence, and with which of its sentences."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from services.chat_api.domain.grounding.analysis import Analysed, analyse
from services.chat_api.domain.grounding.asking import AskedQuestion, read_question
from services.chat_api.domain.grounding.candidates import MOST_CANDIDATES, find_candidates
from services.chat_api.domain.grounding.evidence import language_of_passage, on_one_line
from services.chat_api.domain.grounding.frames import frame_is_known
from services.chat_api.domain.grounding.judging import judge_candidates
from services.chat_api.domain.grounding.language_data.loader import LanguageData, load_language
from services.chat_api.domain.grounding.markers import MARKER, read_markers
from services.chat_api.domain.grounding.verdicts import Candidate, Source, Verdict
from services.chat_api.domain.passages import Passage

_CODE = re.compile(r"`+([^`\n]+)`+")


@lru_cache(maxsize=256)
def _analyse_once(sentence: str, code: str) -> Analysed:
    """A sentence is looked at for its content, against the cited records, and perhaps against all."""
    return analyse(sentence, load_language(code), index=False)


class SupportFinder:
    """Prepared for one question and its packed passages."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        questions: dict[str, AskedQuestion] = {}
        self._sources: list[Source] = []
        for passage in passages:
            data = language_of_passage(passage.text)
            if data.code not in questions:
                questions[data.code] = read_question(question, data.code)
            self._sources.append(Source(passage, data, questions[data.code]))
        self.numbers = tuple(dict.fromkeys(passage.n for passage in passages))
        self._languages: list[LanguageData] = list({source.data.code: source.data for source in self._sources}.values())

    @property
    def languages(self) -> list[LanguageData]:
        """Those of the passages, in their order."""
        return self._languages

    @property
    def sources(self) -> Sequence[Source]:
        """The packed chunks, best first."""
        return self._sources

    def judge(self, sentence: str, numbers: Iterable[int]) -> Verdict:
        """Whether the records `numbers` support the sentence, each alone or several together."""
        allowed = set(numbers)
        exhaustive = 1 < len(allowed) < len(self.numbers)
        said = {data.code: _analyse_once(sentence, data.code) for data in self._languages}
        candidates: list[Candidate] = []
        for source in self._sources:
            if source.passage.n in allowed:
                candidates += find_candidates(said[source.data.code], source)
        candidates.sort(key=lambda candidate: -candidate.score)
        return judge_candidates(said, candidates[: MOST_CANDIDATES * 2], exhaustive=exhaustive)

    def has_content(self, text: str) -> bool:
        """Whether the text says anything that could be checked; connectives do not."""
        return any(_analyse_once(text, data.code).tokens for data in self._languages)

    def frame_is_known(self, text: str) -> bool:
        return any(frame_is_known(text, source.prepared, source.question) for source in self._sources)

    def is_footnote(self, text: str) -> bool:
        """Whether every bracketed number that is no packed record is a footnote mark copied from a passage."""
        marks = [match.group() for match in MARKER.finditer(text)]
        return all(
            any(mark in source.passage.text for source in self._sources) for mark in marks if not self._packed(mark)
        )

    def _packed(self, mark: str) -> bool:
        return not read_markers(mark, self.numbers).foreign

    def holds_code(self, text: str) -> bool:
        """Whether every command or name in backticks stands in a passage: in code each sign counts."""
        if "`" not in text:
            return True
        texts = [source.flat_text.casefold() for source in self._sources]
        codes = (on_one_line(code).casefold() for code in _CODE.findall(text))
        return all(any(code in held for held in texts) for code in codes)

    def chunk_of_line(self, line: str, n: int) -> str:
        flat = on_one_line(line)
        holding = (s.passage.chunk_id for s in self._sources if s.passage.n == n and flat in s.flat_text)
        return next(holding, "")

    def holds_line(self, line: str, n: int) -> bool:
        flat = on_one_line(line)
        return any(source.passage.n == n and flat in source.flat_text for source in self._sources)
