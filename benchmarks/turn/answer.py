"""What the scripted model says, and the eight passages that support it."""

import re
from itertools import pairwise
from pathlib import Path

import services.knowledge_store
from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.grounding.release import ReleasedText
from services.chat_api.domain.passages import Passage
from services.knowledge_store.domain.chunking import chunk_markdown

TOKENS = 64
QUESTION = "How much leave do I have, what may I carry over and how many days may I work from home?"

_CORPUS = Path(services.knowledge_store.__file__).parent / "demo_corpus" / "people"
_DOCUMENTS = {"annual-leave.md": "Annual leave", "remote-work.md": "Remote work"}
_SHORTEST_PASSAGE = 250
_ANSWER = (
    "Every full-time employee of Halden Instruments has 28 days of annual leave per calendar year [1]. "
    "Up to 5 unused days may be carried over into the next year [1]. "
    "Days carried over must be taken by 31 March [1]. "
    "Employees may work remotely up to 3 days per week [2]. "
    "Working from another country is allowed for up to 20 working days per calendar year [2]."
)
_TALK = (
    "Hello! It is good to hear from you, and I am glad to help wherever I can. Ask me about rules, dates, places or "
    "people, one question after the other, and I will look up what is written about them. If you have no question "
    "today, that is fine as well; I wish you a calm day, a short queue at lunch and meetings that end on time."
)


def passages() -> tuple[Passage, ...]:
    """Chunks of two real pages, as the embedded store cuts them; `n` is the number of the page."""
    found = [
        Passage(n, f"demo/{name}", f"demo/{name}#{at}", title, text, f"/sources/demo/{name}", "HR handbook")
        for n, (name, title) in enumerate(_DOCUMENTS.items(), start=1)
        for at, text in enumerate(chunk_markdown(title, _body_of(_CORPUS / name)))
        if len(text) >= _SHORTEST_PASSAGE
    ]
    return tuple(found[:8])


def answer_tokens() -> list[str]:
    return _in_tokens(_ANSWER)


def talk_tokens() -> list[str]:
    return _in_tokens(_TALK)


def tokens_of_the_first_sentence() -> tuple[int, int]:
    """How many tokens hold the first sentence, and how many the gate must have seen to know that it ended."""
    tokens = answer_tokens()
    end = _ANSWER.index("[1].") + len("[1].")
    spoken = next(at for at in range(1, TOKENS) if len("".join(tokens[:at])) >= end)
    gate = GroundingGate(QUESTION, passages())
    seen = next(at for at, token in enumerate(tokens, start=1) if gate.feed(token))
    return spoken, seen


def check_that_the_gate_passes_all() -> None:
    """Otherwise the benchmark would measure something else than it says."""
    gate = GroundingGate(QUESTION, passages())
    released = "".join(piece.text for token in [*answer_tokens(), None] for piece in _step(gate, token))
    if gate.rejections or len(released.split()) < len(_ANSWER.split()):
        raise SystemExit(f"the gate holds back a part of the scripted answer: {released!r}")


def _step(gate: GroundingGate, token: str | None) -> list[ReleasedText]:
    return gate.finish() if token is None else gate.feed(token)


def _in_tokens(text: str) -> list[str]:
    """Pieces of equal length, so that they break words and markers as a tokeniser does."""
    cuts = [round(at * len(text) / TOKENS) for at in range(TOKENS + 1)]
    return [text[start:end] for start, end in pairwise(cuts)]


def _body_of(page: Path) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
