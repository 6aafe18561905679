"""Citation markers in what the model writes: `[1]`, `[1][2]`, `[1, 2]`, `[1-3]`, `【1】`, `[^1]`, `(source 1)`."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_WORD = (
    r"(?:sources?|passages?|docs?|documents?|refs?|quellen?|dokumente?|источник\w*|документ\w*|来源|资料|文档)[\s:#№]*"
)
_LIST = r"\^?\d{1,4}(?:\s*[,;，、–-]\s*\^?\d{1,4})*"
_MARKER = rf"(?:[\[【]\s*(?:{_WORD})?{_LIST}\s*(?:†[^\]】]{{0,20}})?[\]】]|[(（]\s*{_WORD}{_LIST}\s*[)）])"

MARKER = re.compile(_MARKER, re.IGNORECASE)
TRAILING = re.compile(rf"(?:[ \t]*{_MARKER})+(?!\()", re.IGNORECASE)
_BRACKET = re.compile(r"[\[【(（]")
BROKEN = re.compile(r"[\[【(（][^\])】）\n]{0,40}\Z")
LONGEST_MARKER = 60
_ATTRIBUTION = re.compile(
    r"(?:according to|as stated in|based on|per|laut|gemäß|nach|согласно|根据|依据)\s*(?:the\s+)?"
    rf"{_WORD}(\d{{1,4}})\s*[,:，：]\s*",
    re.IGNORECASE,
)
_UNPAUSED = re.compile(r"((?:laut|gemäß|nach)\s+(?:quelle|dokument))\s+(\d{1,4})\s+", re.IGNORECASE)
_BACKTICKS = re.compile(r"`[^`\n]+`")
_NUMBERS = re.compile(r"(\d{1,4})(?:\s*[–-]\s*\^?(\d{1,4}))?")
_CITE_BEFORE_LINK = re.compile(r"\Z|[^(:]")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """`text` without its markers; `cited` are packed numbers, `foreign` tells that another number was claimed."""

    text: str
    cited: tuple[int, ...]
    foreign: bool


def read_markers(text: str, packed: Collection[int]) -> MarkedText:
    """Takes the markers out. A bracketed number that is no packed record stays claimed as `foreign`."""
    first = _BRACKET.search(text)
    if first is None:
        return MarkedText(text, (), False)
    protected = [match.span() for match in _BACKTICKS.finditer(text)] if "`" in text else []
    cited: dict[int, None] = {}
    foreign = False
    kept: list[str] = []
    end = 0
    for match in MARKER.finditer(text, first.start()):
        if protected and any(start <= match.start() < stop for start, stop in protected):
            continue
        if not _CITE_BEFORE_LINK.match(text, match.end()):
            continue
        numbers = _expand(match.group())
        if numbers and all(number in packed for number in numbers):
            cited.update(dict.fromkeys(numbers))
        else:
            foreign = True
            cited.update(dict.fromkeys(number for number in numbers if number in packed))
        kept.append(text[end : match.start()].rstrip(" \t") if _joins(text, match.end()) else text[end : match.start()])
        end = match.end()
    kept.append(text[end:])
    return MarkedText("".join(kept), tuple(cited), foreign)


def move_attribution(text: str) -> str:
    """ "According to source 2, days lapse." becomes "Days lapse. [2]": the number is a citation, not a claim."""
    match = _ATTRIBUTION.match(text)
    if match is None:
        unpaused = _UNPAUSED.match(text)
        return f"{unpaused.group(1)} {text[unpaused.end() :]} [{unpaused.group(2)}]" if unpaused else text
    rest = text[match.end() :]
    return f"{rest[:1].upper()}{rest[1:]} [{match.group(1)}]"


def without_markers(text: str) -> str:
    """Without anything that looks like a marker, but in code."""
    return read_markers(text, ()).text


def holds_marker(text: str) -> bool:
    return _BRACKET.search(text) is not None and MARKER.search(_BACKTICKS.sub("", text)) is not None


def format_markers(cited: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in cited)


def _joins(text: str, end: int) -> bool:
    return end >= len(text) or text[end] in " \t.,;:!?。，；：！？)）[【"


def _expand(marker: str) -> list[int]:
    numbers: list[int] = []
    for first, last in _NUMBERS.findall(marker.split("†")[0]):
        start, stop = int(first), int(last or first)
        numbers.extend(range(start, stop + 1) if start <= stop <= start + 20 else (start, stop))
    return numbers
