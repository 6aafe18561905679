"""Text to typed tokens: numbers, dates, identifiers, names, words by their stems, Chinese by character."""

import re
import unicodedata
from dataclasses import dataclass

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_ALNUM = rf"[^\W_{HAN}]"
_LETTER = rf"[^\W\d_{HAN}]"

PATTERN = re.compile(
    rf"""
 (?P<word>{_LETTER}++)(?=[\s,;!?)”"»“]|[.:](?:\s|\Z)|\Z)
|(?P<url>(?:https?://|www\.)[^\s<>"'“”）)\]】，。；、{HAN}]*[^\s<>"'“”）)\]】，。；、.,;:!?{HAN}])
|(?P<email>[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)
|(?P<date>\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d)|\d{{1,2}}\.\s?\d{{1,2}}\.\s?\d{{4}}(?!\d)
   |\d{{1,2}}/\d{{1,2}}/\d{{4}}(?!\d)
   |\d{{4}}[/.]\d{{1,2}}[/.]\d{{1,2}}(?![\d.]))
|(?P<time>\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?!\d))
|(?P<version>\d+(?:\.\d+){{2,}}(?![\d]))
|(?P<mixed>\d[\d.,]*{_LETTER}+(?:[-_./]?{_ALNUM}+)*)
|(?P<num>
    \d{{1,3}}(?P<sep>[ \u00a0\u202f\u2009'’.,])\d{{3}}(?:(?P=sep)\d{{3}})*(?!\d)(?:[.,]\d+)?
   |\d+(?:[.,]\d+)?|(?<!\d)\.\d+)
|(?P<chunk>{_ALNUM}+(?:['’._/&@+-]{_ALNUM}+)*(?:\+\+|\#)?)
|(?P<han>[{HAN}〇]+)
|(?P<sign>[%‰€£¥₽$°])
|(?P<break>[,;:()|—–•、])
""",
    re.VERBOSE,
)

WORD, HANCHAR, NUMBER, IDENTIFIER, CALENDAR = range(5)
ORDINARY, INITIAL, CAPITAL, NAME = range(4)

_FRACTIONS = str.maketrans({"½": ".5", "¼": ".25", "¾": ".75"})
_SPLIT_FRACTION = re.compile(r"(?<=\d)\s+(?=\.\d)")
_INVISIBLE = {"Cf", "Cc", "Co", "Cs", "Cn"}


@dataclass(slots=True)
class Token:
    """`key` is what is compared; `others` are further keys that mean the same. `clause` counts from 0.

    `case` says how much of a name it looks: ORDINARY, INITIAL (capital at a sentence start), CAPITAL (German), NAME.
    """

    kind: int
    key: str
    surface: str
    clause: int
    start: int
    others: tuple[str, ...] = ()
    unit: str = ""
    case: int = ORDINARY
    ordinal: bool = False
    weight: float = 1.0
    framing: bool = False


def weight(token: Token) -> float:
    """How much it counts for coverage."""
    if token.kind == HANCHAR:
        return 0.5
    return 2.0 if token.case == NAME or token.kind in (NUMBER, IDENTIFIER, CALENDAR) else 1.0


def clean(text: str) -> str:
    """Drops invisible and control characters (newlines and tabs stay): they would hide a claim from the checks."""
    if text.isprintable():
        return text
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in _INVISIBLE)


def normalise(text: str) -> str:
    """One spelling for look-alikes: full-width and superscript digits, ligatures, fractions."""
    if text.isascii():
        return text
    if not text.isprintable():
        text = clean(text)
    if "½" in text or "¼" in text or "¾" in text:
        text = _SPLIT_FRACTION.sub("", text.translate(_FRACTIONS))
    return unicodedata.normalize("NFKC", text)
