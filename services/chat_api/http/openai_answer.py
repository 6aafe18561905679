"""What a client of the OpenAI API reads of a turn. It shows nothing but text, so what must be seen is put there."""

from urllib.parse import quote, urljoin, urlsplit
from uuid import UUID

from services.chat_api.domain.citations import Citation
from services.chat_api.domain.hint import Hint
from services.chat_api.domain.marker_positions import marker_positions
from services.chat_api.domain.turn_events import (
    AnswerDelta,
    HintGiven,
    Notice,
    NoticeCode,
    SourcesCited,
    TokenUsage,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from services.chat_api.http.openai_bodies import AchillesPart, Annotation, NoticeBody, UrlCitation, Usage

# What a reader must know of an answer, and would not see in a client that shows nothing but text.
_TOLD: frozenset[NoticeCode] = frozenset({"conversational", "source_unreachable", "model_replaced"})
_LINK_TEXT = str.maketrans({"[": r"\[", "]": r"\]", "\\": r"\\", "\n": " ", "\r": " "})


class OpenAiAnswer:
    """Turn events in, text out. Labels (conversational, a source that failed), the hint of a partial answer and, if
    wanted, the sources follow the answer as text of ours; markers keep their positions."""

    def __init__(self, conversation_id: UUID, message_id: UUID, base_url: str, *, source_links: bool) -> None:
        self.conversation_id = conversation_id
        self.message_id = message_id
        self._base_url = base_url
        self._source_links = source_links
        self._released: list[str] = []
        self._added: list[str] = []
        self._citations: tuple[Citation, ...] = ()
        self._hint: Hint | None = None
        self._notices: list[Notice] = []
        self.model = ""
        self.finished: TurnFinished | None = None
        self.failed: TurnFailed | None = None
        self.interrupted = False

    def feed(self, event: TurnEvent) -> str:
        """The text that this event adds."""
        if isinstance(event, AnswerDelta):
            self._released.append(event.text)
            return event.text
        added = self._note(event)
        self._added.append(added)
        return added

    @property
    def text(self) -> str:
        """Nothing is released once something of ours was added."""
        return "".join((*self._released, *self._added))

    @property
    def completion_id(self) -> str:
        return f"chatcmpl-{self.message_id.hex}"

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """One a marker, in the order of the text."""
        by_number = {citation.n: citation for citation in self._citations}
        return tuple(
            Annotation(
                type="url_citation",
                url_citation=UrlCitation(url=url, title=by_number[at.n].title, start_index=at.start, end_index=at.end),
            )
            for at in marker_positions("".join(self._released), by_number)
            if (url := self._url_of(by_number[at.n]))
        )

    @property
    def usage(self) -> Usage:
        spent = (self.finished and self.finished.usage) or TokenUsage(0, 0)
        return Usage(
            prompt_tokens=spent.input_tokens,
            completion_tokens=spent.output_tokens,
            total_tokens=spent.input_tokens + spent.output_tokens,
        )

    @property
    def identified(self) -> AchillesPart:
        """What is known from the first byte on."""
        return AchillesPart(conversation_id=self.conversation_id, message_id=self.message_id)

    @property
    def achilles(self) -> AchillesPart:
        return AchillesPart(
            conversation_id=self.conversation_id,
            message_id=self.message_id,
            outcome="interrupted" if self.interrupted else self.finished.outcome if self.finished else "failed",
            hint=self._hint,
            notices=tuple(NoticeBody(code=notice.code, text=notice.text) for notice in self._notices),
            tokens_used=self.finished.tokens_used if self.finished else None,
        )

    def _note(self, event: TurnEvent) -> str:
        match event:
            case TurnStarted():
                self.model = event.model
            case Notice():
                self._notices.append(event)
            case SourcesCited():
                self._citations = event.citations
            case HintGiven():
                self._hint = event.hint
                # A withheld answer is the hint itself.
                return "" if self.text.endswith(event.hint.text) else f"\n\n{event.hint.text}"
            case TurnFinished():
                self.finished = event
                self.model = event.model
                return f"{self._label()}{self._links()}"
            case TurnFailed():
                self.failed = event
            case TurnInterrupted():
                self.interrupted = True
        return ""

    def _label(self) -> str:
        labels = dict.fromkeys(notice.text for notice in self._notices if notice.code in _TOLD)
        return "".join(f"\n\n_{label}_" for label in labels)

    def _links(self) -> str:
        if not self._source_links:
            return ""
        lines = [
            f"- [{citation.n}] [{citation.title.translate(_LINK_TEXT)}]({url})"
            for citation in self._citations
            if (url := self._url_of(citation))
        ]
        return "\n\n" + "\n".join(lines) if lines else ""

    def _url_of(self, citation: Citation) -> str:
        """Absolute, and safe within a Markdown link; empty for an address that is none of the web."""
        url = quote(urljoin(self._base_url, citation.url), safe="%/:=&?~#+!$,;'@*[]")
        return url if urlsplit(url).scheme in ("http", "https") else ""
