"""Cuts a stream into sentences, headings, list items, table rows and code blocks, the same for any chunking.

A cut depends only on the text up to a bounded look-ahead (the next word), never on where the deltas broke.
"""

import re
from dataclasses import dataclass
from typing import Literal

from services.chat_api.domain.grounding.boundaries import CLOSERS, HAN_STOPS, ends_sentence
from services.chat_api.domain.grounding.language_data.loader import LanguageData
from services.chat_api.domain.grounding.markers import BROKEN, LONGEST_MARKER, TRAILING

LONGEST_SENTENCE = 2_000
LONGEST_BLOCK = 6_000
_LOOK_AHEAD = 200

SegmentKind = Literal["sentence", "heading", "row", "code", "rule", "too_long"]

_STOP = re.compile(rf"(?:[.!?…]+|[{HAN_STOPS}]+)[{re.escape(CLOSERS)}]*|\n")
_MAY_END = re.compile(rf"[.!?…{HAN_STOPS}\n]")
_BULLET = re.compile(r"(?:(?:[-*+•·–—]|\d{1,3}[.)])[ \t]+|\d{1,2}、)(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"(?:>[ \t]?)+")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}\Z")
_FENCE = re.compile(r"```|~~~")
_WORD = re.compile(r"\w+")
_MARKERS_ONLY = re.compile(rf"{TRAILING.pattern}[ \t.]*(?=\n|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Segment:
    """`prefix` is its list or heading mark; `newlines` is 0 on the line of the segment before, else 1 or 2."""

    text: str
    kind: SegmentKind = "sentence"
    prefix: str = ""
    newlines: int = 0


class Segmenter:
    """Feed deltas, get the segments they completed."""

    def __init__(self, data: LanguageData) -> None:
        self._data = data
        self._buffer = ""
        self._scan = 0
        self._newlines = 2
        self._skipping = False
        self._quiet = False

    def feed(self, delta: str) -> list[Segment]:
        self._buffer += delta.replace("\r", "")
        if self._quiet and len(self._buffer) <= LONGEST_SENTENCE and not _MAY_END.search(delta):
            return []
        return self._drain(final=False)

    def finish(self) -> list[Segment]:
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> list[Segment]:
        segments = []
        while (segment := self._next(final)) is not None:
            if segment.text or segment.kind != "sentence":
                segments.append(segment)
        return segments

    def _next(self, final: bool) -> Segment | None:
        self._quiet = False
        self._skip_space()
        if not self._buffer or (self._newlines and not final and not self._line_start_known()):
            return None
        prefix, kind = self._line_start()
        if kind == "code":
            return self._block(final)
        if kind != "sentence":
            return self._line(prefix, kind, final)
        end = self._sentence_end(len(prefix), final)
        if end is None or end > LONGEST_SENTENCE:
            return (
                self._overlong(prefix)
                if end is not None or len(self._buffer) > LONGEST_SENTENCE + _LOOK_AHEAD
                else None
            )
        return self._cut(prefix, "sentence", end)

    def _skip_space(self) -> None:
        if not self._buffer[:1].isspace():
            return
        stripped = self._buffer.lstrip()
        space = self._buffer[: len(self._buffer) - len(stripped)]
        if space:
            self._newlines = min(2, self._newlines + space.count("\n"))
            self._buffer, self._scan = stripped, max(0, self._scan - len(space))

    def _line_start_known(self) -> bool:
        return len(self._buffer) >= 12 or "\n" in self._buffer

    def _line_start(self) -> tuple[str, SegmentKind]:
        buffer = self._buffer
        if not self._newlines:
            return "", "sentence"
        if _FENCE.match(buffer):
            return "", "code"
        quote = _QUOTE.match(buffer)
        prefix = quote.group() if quote else ""
        rest = buffer[len(prefix) :]
        if rest.startswith("#"):
            hashes = re.match(r"#{1,6}[ \t]*", rest)
            return prefix + (hashes.group() if hashes else ""), "heading"
        if rest.startswith("|"):
            return prefix, "row"
        if rest[:3] in ("---", "***", "___", "===") or rest.startswith(("- - ", "* * ")):
            line = rest.partition("\n")[0]
            if _RULE.match(line):
                return prefix, "rule"
        bullet = _BULLET.match(rest)
        return prefix + (bullet.group() if bullet else ""), "sentence"

    def _line(self, prefix: str, kind: SegmentKind, final: bool) -> Segment | None:
        end = self._buffer.find("\n")
        if end < 0 and not final and len(self._buffer) <= LONGEST_SENTENCE:
            return None
        end = len(self._buffer) if end < 0 else end
        return self._overlong(prefix) if end > LONGEST_SENTENCE else self._cut(prefix, kind, end)

    def _block(self, final: bool) -> Segment | None:
        fence = self._buffer[:3]
        close = self._buffer.find("\n" + fence, 3)
        if 0 <= close <= LONGEST_BLOCK:
            end = self._buffer.find("\n", close + 4)
            if end < 0 and not final:
                return None
            return self._cut("", "code", len(self._buffer) if end < 0 else end)
        if len(self._buffer) > LONGEST_BLOCK + 4:
            return self._cut("", "too_long", LONGEST_BLOCK)
        return self._cut("", "code", len(self._buffer)) if final else None

    def _overlong(self, prefix: str) -> Segment:
        self._skipping = True
        return self._cut(prefix, "too_long", LONGEST_SENTENCE)

    def _cut(self, prefix: str, kind: SegmentKind, end: int) -> Segment:
        text = self._buffer[len(prefix) : end].strip()
        segment = Segment(text, kind, prefix, self._newlines)
        self._buffer, self._scan, self._newlines = self._buffer[end:], 0, 0
        if self._skipping and kind != "too_long":
            self._skipping = False
            return Segment(text, "too_long", prefix, segment.newlines)
        return segment

    def _sentence_end(self, start: int, final: bool) -> int | None:
        position = max(start, self._scan)
        while match := _next_stop(self._buffer, position):
            end = self._judge(start, match, final)
            if end is None:
                self._scan = match.start()
                return None
            if end > 0:
                return end
            position = match.end()
        if final:
            return len(self._buffer)
        self._scan = max(start, len(self._buffer) - 1)
        self._quiet = True
        return None

    def _judge(self, start: int, match: re.Match[str], final: bool) -> int | None:
        """The end of the sentence if it ends at this stop, 0 if it does not, None if more text must come."""
        if match.group() == "\n":
            return self._judge_newline(match.start(), final)
        end = match.end()
        buffer = self._buffer
        if end >= len(buffer) and not final:
            return None
        trailing = TRAILING.match(buffer, end)
        after = trailing.end() if trailing else end
        if not final and BROKEN.match(buffer[after : after + LONGEST_MARKER].lstrip(" \t")):
            return None
        if trailing and buffer[after : after + 1] in (".", "。", ","):
            return 0
        if after < len(buffer) and not buffer[after].isspace() and not trailing and match.group()[0] not in HAN_STOPS:
            return 0
        following = self._following(after, final)
        if following is None:
            return None
        if following and not ends_sentence(buffer[start : match.start()], match.group(), following, self._data):
            return 0
        return after

    def _following(self, after: int, final: bool) -> str | None:
        """The next word of the same paragraph ("" where it ends), or None if it is not complete."""
        window = self._buffer[after : after + _LOOK_AHEAD]
        rest = window.lstrip(" \t")
        if not rest:
            return "" if final or len(window) == _LOOK_AHEAD else None
        if rest[0] == "\n":
            return ""
        word = _WORD.match(rest)
        if word is None:
            return rest[0]
        if word.end() == len(rest) and not final and len(window) < _LOOK_AHEAD and self._data.code != "zh":
            return None
        return word.group()

    def _judge_newline(self, position: int, final: bool) -> int | None:
        window = self._buffer[position : position + _LOOK_AHEAD]
        rest = window.lstrip()
        if not rest:
            return position if final or len(window) == _LOOK_AHEAD else None
        if rest[0] in "[【(（":
            only = _MARKERS_ONLY.match(rest)
            if only and (final or "\n" in rest):
                return position + len(window) - len(rest) + only.end()
            if not final and "\n" not in rest and len(rest) < LONGEST_MARKER:
                return None
        return 0 if rest[0].islower() and window[: len(window) - len(rest)].count("\n") == 1 else position


def _next_stop(text: str, position: int) -> re.Match[str] | None:
    """A lone character class is found several times faster than the whole pattern."""
    first = _MAY_END.search(text, position)
    return first and _STOP.match(text, first.start())


def split_text(text: str, data: LanguageData) -> list[Segment]:
    """A whole text at once, as passages come."""
    segmenter = Segmenter(data)
    return segmenter.feed(text) + segmenter.finish()
