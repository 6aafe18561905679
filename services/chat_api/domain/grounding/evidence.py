"""A packed passage as evidence: its sentences, list items and table rows, each with the context that goes with it."""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from services.chat_api.domain.grounding.analysis import Analysed, analyse
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.grounding.language_data.loader import LanguageData, load_language
from services.chat_api.domain.grounding.markers import without_markers
from services.chat_api.domain.grounding.markup import plain
from services.chat_api.domain.grounding.segmenter import Segment, split_text
from services.chat_api.domain.grounding.tables import Row, read_rows

_OPENS_LINE = tuple("-*+•·#>|`\t 0123456789")
_ENDS_LINE = tuple(".!?:;。！？：|")
_WRAPPED_FROM = 50
_NO_KEYS: frozenset[str] = frozenset()


@dataclass(slots=True)
class Evidence:
    """`context` holds the keys of title, headings and lead-in; `earlier` those of the two sentences before.

    In a table row a token's clause is its cell. `rivals` are words that name other rows or items of the same list;
    `heading` is what introduces a list item. `quoted` marks what the document itself quotes, such as a pasted mail.
    """

    text: str
    said: Analysed
    context: frozenset[str] = _NO_KEYS
    earlier: frozenset[str] = _NO_KEYS
    rivals: frozenset[str] = _NO_KEYS
    header_end: tuple[int, ...] = ()
    table: bool = False
    heading: str = ""
    quoted: bool = False


@dataclass(slots=True)
class PreparedPassage:
    """`sentences_of` maps a key to the numbers of the sentences that hold it; `keys` includes the title's."""

    data: LanguageData
    sentences: list[Evidence]
    sentences_of: dict[str, list[int]] = field(default_factory=dict)
    keys: frozenset[str] = _NO_KEYS
    flat_text: str = ""
    beginnings: dict[str, list[str]] = field(default_factory=dict)

    def index(self, title_keys: frozenset[str]) -> None:
        keys = set(title_keys)
        for number, evidence in enumerate(self.sentences):
            evidence.said.index_as_evidence()
            for key in evidence.said.positions:
                self.sentences_of.setdefault(key, []).append(number)
            keys |= evidence.said.positions.keys() | evidence.context
        self.keys = frozenset(keys)
        for key in sorted(keys):
            self.beginnings.setdefault(key[:3], []).append(key)


def on_one_line(text: str) -> str:
    """With single spaces instead of line breaks."""
    return " ".join(text.split())


def language_of_passage(text: str) -> LanguageData:
    return load_language(detect_language(text))


@lru_cache(maxsize=2_048)
def prepare_passage(text: str, title: str) -> PreparedPassage:
    """Costs about a millisecond the first time; the same chunk comes back in many turns."""
    data = language_of_passage(text)
    title_keys = frozenset(analyse(title, data).positions)
    builder = _Builder(data, title_keys)
    builder.read(split_text(_unwrap(_join_quotation(text)), data))
    passage = PreparedPassage(data, builder.sentences, flat_text=on_one_line(text))
    passage.index(title_keys)
    return passage


def _join_quotation(text: str) -> str:
    """Lines of one quoted paragraph as one line: a sentence in it does not end where the line does."""
    lines: list[str] = []
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        goes_on = before.startswith(">") and line.startswith(">") and before.strip("> ")
        if goes_on and (line.lstrip("> ") or " ")[0] not in " -*+#|0123456789":
            lines[-1] = f"{before} {line.lstrip('> ')}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _unwrap(text: str) -> str:
    """Joins lines that an editor wrapped: a long line that ends nothing, before one that opens nothing."""
    lines = text.split("\n")
    joined = lines[:1]
    for before, line in pairwise(lines):
        wrapped = len(before) > _WRAPPED_FROM and not before.endswith(_ENDS_LINE)
        goes_on = bool(line) and not line.startswith(_OPENS_LINE) and not before.startswith(("|", "#"))
        joined.append((" " if wrapped and goes_on else "\n") + line)
    return "".join(joined)


class _Builder:
    def __init__(self, data: LanguageData, title_keys: frozenset[str]) -> None:
        self.data = data
        self.title_keys = title_keys
        self.sentences: list[Evidence] = []
        self._headings: list[tuple[int, frozenset[str]]] = []
        self._heading = ""
        self._lead_in = _NO_KEYS
        self._lead_in_text = ""
        self._quoting = False
        self._items: list[Evidence] = []

    def read(self, segments: list[Segment]) -> None:
        i = 0
        while i < len(segments):
            segment = segments[i]
            if segment.kind == "heading":
                self._add_heading(segment)
            elif segment.kind == "row":
                rows = [s.text for s in segments[i:]]
                end = next((k for k, s in enumerate(segments[i:]) if s.kind != "row"), len(rows))
                self._add_rows(read_rows(rows[:end]))
                i += end - 1
            elif segment.kind == "code":
                for line in segment.text.splitlines()[1:]:
                    self._add(line.strip("`~ "), bullet=False)
            elif segment.kind != "rule":
                self._add_sentence(segment)
            i += 1
        self._close_list()

    def _add_heading(self, segment: Segment) -> None:
        self._close_list()
        level = segment.prefix.count("#")
        keys = frozenset(analyse(segment.text, self.data).positions)
        self._headings = [heading for heading in self._headings if heading[0] < level] + [(level, keys)]
        self._lead_in = _NO_KEYS
        self._heading = segment.text

    def _add_sentence(self, segment: Segment) -> None:
        bullet = bool(segment.prefix.strip("> "))
        if not bullet and segment.newlines:
            self._close_list()
            self._lead_in = _NO_KEYS
        if segment.newlines or segment.prefix:
            self._quoting = segment.prefix.startswith(">")
        self._add(segment.text, bullet=bullet, quoted=self._quoting)
        if segment.text.rstrip("*_ ").endswith((":", "：")) and self.sentences:
            self._lead_in = frozenset(self.sentences[-1].said.positions)
            self._lead_in_text = segment.text

    def _add(self, text: str, *, bullet: bool, quoted: bool = False) -> None:
        if not text:
            return
        said = analyse(plain(without_markers(text)), self.data)
        evidence = Evidence(text, said, self._context(), self._earlier(), quoted=quoted)
        evidence.heading = (self._lead_in_text if self._lead_in else self._heading) if bullet else ""
        self.sentences.append(evidence)
        if bullet:
            self._items.append(evidence)

    def _context(self) -> frozenset[str]:
        return self.title_keys.union(*(keys for _level, keys in self._headings), self._lead_in)

    def _earlier(self) -> frozenset[str]:
        return frozenset().union(*(evidence.said.positions for evidence in self.sentences[-2:] if not evidence.table))

    def _close_list(self) -> None:
        labels = [_label_keys(evidence, self.data) for evidence in self._items]
        for evidence in self._items:
            others = frozenset().union(*labels)
            evidence.rivals = others - evidence.said.positions.keys()
        self._items = []

    def _add_rows(self, rows: list[Row]) -> None:
        first = len(self.sentences)
        context = self._context()
        for row in rows:
            said = analyse(row.text, self.data)
            for token in said.tokens:
                token.clause = row.cell_of(token.start)
            headers = tuple(i for i, token in enumerate(said.tokens) if row.is_header(token.start))
            self.sentences.append(Evidence(row.text, said, context, header_end=headers, table=True))
        names = [_cell_keys(evidence, 0) for evidence in self.sentences[first:]]
        for evidence in self.sentences[first:]:
            evidence.rivals = frozenset().union(*names) - evidence.said.positions.keys()


def _label_keys(evidence: Evidence, data: LanguageData) -> frozenset[str]:
    label, colon, _rest = evidence.text.replace("：", ":").partition(":")
    return frozenset(analyse(label, data).positions) if colon else _NO_KEYS


def _cell_keys(evidence: Evidence, cell: int) -> frozenset[str]:
    return frozenset(token.key for token in evidence.said.tokens if token.clause == cell)
