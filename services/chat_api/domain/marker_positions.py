"""Where the markers of a released answer stand."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_MARKER_OR_CODE = re.compile(r"`[^`\n]+`|\[(\d{1,4})\](?!\()")


@dataclass(frozen=True, slots=True)
class MarkerPosition:
    """Of the marker `[n]`, in characters (code points) of the text; `end` is after its last one."""

    n: int
    start: int
    end: int


def marker_positions(text: str, cited: Collection[int]) -> Iterator[MarkerPosition]:
    """In order. What stands in code, and what is the text of a link, is no marker."""
    for match in _MARKER_OR_CODE.finditer(text):
        if match[1] and int(match[1]) in cited:
            yield MarkerPosition(int(match[1]), *match.span())
