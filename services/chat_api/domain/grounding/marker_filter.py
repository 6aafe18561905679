"""Takes citation markers out of talk that cites nothing, while it streams. Code keeps its brackets."""

import re

from services.chat_api.domain.grounding.markers import BROKEN, LONGEST_MARKER, MARKER

_SPECIAL = re.compile(r"[`\[【(（]")
_CODE = re.compile(r"`[^`\n]+`")
_NUMBER_LINK = re.compile(r"\((?:[^()\n]|\([^()\n]*\))*\)")
# What may become a marker with what follows: a removed one leaves a trace there.
_BEGUN = re.compile(r"[\[【(（]\s*(?:[^\W\d]{2,10}[\s:#№]*)?[\d\s,;，、^–-]*\Z")
_TRACE = "…"
_FENCE = "```"
_LONGEST_CODE = 300
_LONGEST_LINK = 300
_JOINS = " \t\n.,;:!?。，；：！？)）"


class MarkerFilter:
    """Feed deltas, get what may be shown. The joined text is the same for any chunking of the stream."""

    def __init__(self) -> None:
        self._rest = ""
        self._space = ""
        self._fenced = False
        self._tail = ""

    def feed(self, delta: str) -> str:
        self._rest += delta
        return self._drain(final=False)

    def finish(self) -> str:
        text = self._drain(final=True)
        self._space = ""
        return text

    def _drain(self, *, final: bool) -> str:
        shown: list[str] = []
        while self._rest:
            taken = self._take_fenced(final) if self._fenced else self._take(final)
            if taken is None:
                break
            end, text = taken
            self._rest = self._rest[end:]
            if text:
                shown.append(self._with_space(text))
                self._tail = (self._tail + shown[-1])[-LONGEST_MARKER:]
        return "".join(shown)

    def _with_space(self, text: str) -> str:
        """Space at the end waits: a marker may follow, and then it goes with it."""
        text = self._space + text
        kept = text.rstrip(" \t")
        self._space = text[len(kept) :]
        return kept

    def _take_fenced(self, final: bool) -> tuple[int, str] | None:
        """(characters used, text to show) up to the closing fence, None if more must come."""
        end = self._rest.find(_FENCE)
        if end >= 0:
            self._fenced = False
            return end + len(_FENCE), self._rest[: end + len(_FENCE)]
        open_end = len(self._rest) if final else len(self._rest.rstrip("`"))
        return (open_end, self._rest[:open_end]) if open_end else None

    def _take(self, final: bool) -> tuple[int, str] | None:
        special = _SPECIAL.search(self._rest)
        if special is None:
            return len(self._rest), self._rest
        if special.start():
            return special.start(), self._rest[: special.start()]
        return self._take_code(final) if self._rest[0] == "`" else self._take_bracket(final)

    def _take_code(self, final: bool) -> tuple[int, str] | None:
        if self._rest.startswith(_FENCE):
            self._fenced = True
            return len(_FENCE), _FENCE
        code = _CODE.match(self._rest)
        if code is not None:
            return code.end(), code.group()
        may_go_on = "\n" not in self._rest and self._rest.count("`") < 3 and len(self._rest) < _LONGEST_CODE
        return None if may_go_on and not final else (1, "`")

    def _take_bracket(self, final: bool) -> tuple[int, str] | None:
        marker = MARKER.match(self._rest)
        if marker is None or "\n" in marker.group():
            broken = BROKEN.match(self._rest) and len(self._rest) < LONGEST_MARKER
            return None if broken and not final else (1, self._rest[0])
        end = marker.end()
        if end == len(self._rest) and not final:
            return None
        if self._rest[end : end + 1] == "(":
            link = _NUMBER_LINK.match(self._rest, end)
            if link is None and not final and "\n" not in self._rest and len(self._rest) - end < _LONGEST_LINK:
                return None
            end = link.end() if link else end
            if end == len(self._rest) and not final:
                return None
        return end, self._instead(end)

    def _instead(self, end: int) -> str:
        """What is shown for a marker that ends there: mostly nothing, nor the space before it."""
        if end == len(self._rest) or self._rest[end] in _JOINS:
            self._space = ""
        return _TRACE if _BEGUN.search(self._tail) else ""
