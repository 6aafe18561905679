"""The grounding gate: what the model says reaches the reader only where the packed passages say it.

Checked sentence by sentence, by words, so inside one language: an answer in another language than its passages cannot
be verified this way and is held back (`other_language`) unless a judge is at hand (judged_claims.py); the turn then
falls back to quoting.

What no such check can see (`python -m benchmarks.gate` measures how often):

- Roles exchanged between lower-case nouns, and predicates stitched to a subject of the same sentence.
- A wrong answer of the right kind that stands as near to the question's words as the right one. A sentence that
  repeats the question is judged by where its answer stands (`answer_fit`); where a passage has but two sentences, or
  the question joins several facts, there is no place to judge by, and only the answer's kind is.
- "Yes" and "no" alone, and which of two things that the question offers: nothing in them can be looked up.
- Chinese names made of dictionary words, and German names after an article, which look like common nouns.
- Arithmetic, comparisons, text that a passage quotes only to deny, and synonyms either way.

A sentence without a marker is attributed to the record that supports it best (the first packed one of equals). A
sentence whose marker names another record than the one that supports it is dropped, never re-attributed.
"""

import hashlib
import re
from collections.abc import Sequence

from services.chat_api.domain.grounding.cited_records import CitedRecords, numbers_to_cite
from services.chat_api.domain.grounding.frames import PendingFrames
from services.chat_api.domain.grounding.judged_claims import JudgedClaims
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.markers import (
    MarkedText,
    format_markers,
    holds_marker,
    move_attribution,
    read_markers,
)
from services.chat_api.domain.grounding.markup import balance_brackets, is_definition, plain, reduce_markup
from services.chat_api.domain.grounding.planted import carries_out
from services.chat_api.domain.grounding.release import (
    JudgeScope,
    Rejection,
    RejectionReason,
    ReleasedText,
    Support,
)
from services.chat_api.domain.grounding.segmenter import Segment, Segmenter
from services.chat_api.domain.grounding.support import SupportFinder
from services.chat_api.domain.grounding.table_writer import AnswerTable
from services.chat_api.domain.grounding.tokens import clean
from services.chat_api.domain.grounding.verdicts import Backing, Verdict
from services.chat_api.domain.passages import Passage

_WEAK_COVERAGE = frozenset({RejectionReason.LOW_COVERAGE, RejectionReason.UNMATCHED_CLAUSE})


_ORDERED = re.compile(r"\d{1,3}[.)、]")


class GroundingGate:
    """One answer stream of one turn. Feed deltas as they come; append every `text` to the answer as it is.

    `judged` tells that a judge is at hand: what comes out with a `claim` waits for its yes, or is withdrawn.
    """

    def __init__(self, question: str, passages: Sequence[Passage], judged: JudgeScope | None = None) -> None:
        self._finder = SupportFinder(question, passages)
        self._claims = JudgedClaims(self._finder, judged)
        data = self._claims.language_of_answer(question)
        self._segmenter = Segmenter(data)
        self._space = "" if data.code == "zh" else " "
        self._frames = PendingFrames()
        self._table = AnswerTable()
        self._rejections: list[Rejection] = []
        self._cited = CitedRecords()
        self._started = False
        self._gap = 0
        self._open_prefix = ""
        self._list_number = 0

    def feed(self, delta: str) -> list[ReleasedText]:
        """What the delta completed, in order; the joined text is the same for any chunking of the stream."""
        return self._release(self._segmenter.feed(clean(delta)))

    def finish(self) -> list[ReleasedText]:
        """The rest of the stream. Frames that still wait for an item go."""
        released = self._release(self._segmenter.finish())
        self._frames.clear()
        return released

    @property
    def rejections(self) -> list[Rejection]:
        return list(self._rejections)

    @property
    def cited(self) -> tuple[int, ...]:
        """Numbers cited so far, each once, in the order of their first citation."""
        return self._cited.numbers

    def support(self, n: int) -> Support | None:
        """The best chunk of a cited record and the sentence of it that supports the answer."""
        return self._cited.support(n)

    def withdraw(self, piece: ReleasedText, reason: RejectionReason | None = None) -> None:
        """The piece is not released after all: its citations go. A judge's reason is noted as a rejection."""
        self._cited.withdraw(piece)
        if reason is not None and piece.claim is not None:
            digest = hashlib.sha256(piece.claim.sentence.encode()).hexdigest()
            self._rejections.append(Rejection(digest, reason, piece.citations))

    def _release(self, segments: list[Segment]) -> list[ReleasedText]:
        return [released for segment in segments if (released := self._pass(segment)) is not None]

    def _pass(self, segment: Segment) -> ReleasedText | None:
        self._enter(segment)
        match segment.kind:
            case "rule":
                return None
            case "too_long":
                return self._reject(segment.text, RejectionReason.TOO_LONG, ())
            case "code":
                return self._pass_code(segment)
            case _:
                return self._pass_text(segment)

    def _enter(self, segment: Segment) -> None:
        self._gap = max(self._gap, segment.newlines)
        if segment.newlines:
            self._open_prefix = segment.prefix
            if _ORDERED.match(segment.prefix) and segment.prefix.strip()[:-1] == "1":
                self._list_number = 0
        if segment.kind != "row":
            self._table.close()

    def _pass_text(self, segment: Segment) -> ReleasedText | None:
        text = reduce_markup(segment.text)
        if is_definition(text):
            return self._reject(text, RejectionReason.MARKUP, ())
        marked = read_markers(move_attribution(text), self._finder.numbers)
        body = balance_brackets(marked.text).strip()
        if (marked.foreign and not self._finder.is_footnote(text)) or holds_marker(body):
            return self._reject(body, RejectionReason.FOREIGN_MARKER, marked.cited)
        if segment.kind == "row":
            return self._pass_row(body, marked)
        if segment.kind == "heading":
            return self._hold_frame(segment.prefix, body)
        return self._pass_sentence(body, marked)

    def _pass_sentence(self, body: str, marked: MarkedText) -> ReleasedText | None:
        checked = plain(body)
        if not self._finder.has_content(checked):
            return self._hold_frame("", body) if body else None
        lead_in = body.rstrip("*_ ").endswith((":", "：")) or (body.startswith("**") and body.endswith("**"))
        # Even one that a passage supports word for word says nothing without what it leads to.
        if lead_in and self._finder.frame_is_known(checked):
            return self._hold_frame(self._numbered_prefix(), body)
        if not self._finder.holds_code(body):
            return self._reject(body, RejectionReason.MARKUP, marked.cited)
        verdict = self._judge(checked, marked.cited)
        if verdict.reason is None:
            return self._accept(self._numbered_prefix() + body, verdict, marked.cited)
        if lead_in:
            return self._reject(body, RejectionReason.UNSUPPORTED_FRAMING, marked.cited)
        return self._reject(body, verdict.reason, marked.cited)

    def _numbered_prefix(self) -> str:
        """Ordered lists are counted anew: an item's number could be invented, and items before it may have fallen."""
        if not _ORDERED.match(self._open_prefix):
            return self._open_prefix
        self._list_number += 1
        return f"{self._list_number}. "

    def _judge(self, text: str, cited: tuple[int, ...]) -> Verdict:
        verdict = self._finder.judge(text, cited or self._finder.numbers)
        if verdict.reason is None and carries_out(text, verdict.backing):
            return Verdict((), RejectionReason.INSTRUCTION_FOLLOWED)
        if verdict.reason is None:
            return self._claims.of_supported(text, verdict, cited)
        if self._elsewhere(text, cited):
            return Verdict((), RejectionReason.WRONG_CITATION)
        languages = {data.code for data in self._finder.languages}
        if verdict.reason in _WEAK_COVERAGE and detect_language(text) not in languages:
            verdict = Verdict((), RejectionReason.OTHER_LANGUAGE)
        return self._claims.of_rejected(text, verdict, cited)

    def _elsewhere(self, text: str, cited: tuple[int, ...]) -> bool:
        others = [number for number in self._finder.numbers if number not in cited]
        return bool(cited and others) and self._finder.judge(text, others).reason is None

    def _pass_row(self, body: str, marked: MarkedText) -> ReleasedText | None:
        opening = self._table.read(body)
        if opening is not None:
            return self._hold_frame("", opening) if opening else None
        verdict = self._judge(plain(self._table.with_headers(body)), marked.cited)
        if verdict.reason in _WEAK_COVERAGE:
            verdict = self._judge(plain(self._table.cells_only(body)), marked.cited)
        if verdict.reason is not None:
            return self._reject(body, verdict.reason, marked.cited)
        return self._accept(body, verdict, marked.cited, row=True)

    def _pass_code(self, segment: Segment) -> ReleasedText | None:
        """A code block passes whole, if each of its lines stands in one packed record."""
        lines = [line for line in segment.text.splitlines()[1:] if line.strip() and not line.startswith(("```", "~~~"))]
        for n in self._finder.numbers:
            if lines and all(self._finder.holds_line(line, n) for line in lines):
                fence = segment.text[:3]
                block = "\n".join([fence, *segment.text.splitlines()[1:]])
                block = block if block.endswith(fence) and len(block) > 3 else f"{block}\n{fence}"
                backing = Backing(n, self._finder.chunk_of_line(lines[0], n), lines[0].strip(), 1.0)
                return self._accept(block + "\n", Verdict((backing,)), (n,))
        return self._reject(segment.text, RejectionReason.MARKUP, ())

    def _accept(self, body: str, verdict: Verdict, cited: tuple[int, ...], *, row: bool = False) -> ReleasedText:
        numbers = numbers_to_cite(verdict, cited)
        markers = format_markers(numbers)
        if row and body.endswith("|"):
            text = f"{body[:-1].rstrip()} {markers} |"
        else:
            text = f"{body}{'' if body.endswith(chr(10)) else ' '}{markers}"
        frames = self._frames.take()
        text = f"{frames}{self._separator()}{text}"
        text = text if self._started else text.lstrip()
        self._started, self._gap, self._open_prefix = True, 0, ""
        released = ReleasedText(text, numbers, verdict.claim, frames)
        self._cited.add(released, verdict.backing)
        return released

    def _separator(self) -> str:
        return "\n" * self._gap or self._space

    def _hold_frame(self, prefix: str, body: str) -> ReleasedText | None:
        """Nothing is released now; the frame goes out with the next supported item."""
        if not self._finder.frame_is_known(plain(body)):
            return self._reject(body, RejectionReason.UNSUPPORTED_FRAMING, ())
        separator = self._separator() if self._started or self._frames.texts else ""
        self._frames.add(f"{separator}{prefix}{body}")
        self._gap, self._open_prefix = 0, ""
        return None

    def _reject(self, text: str, reason: RejectionReason, cited: tuple[int, ...]) -> ReleasedText | None:
        """Notes it and releases nothing."""
        if reason is not RejectionReason.UNSUPPORTED_FRAMING:
            self._frames.item_fell()
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._rejections.append(Rejection(digest, reason, cited))
        return None
