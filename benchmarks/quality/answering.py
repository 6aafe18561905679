"""One answer through the real answer path: a scripted model, the gate, the judge if there is one, the fallback."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.gate.corpus import Section
from services.chat_api.domain.model_call import ModelClient, TextDelta
from services.chat_api.domain.passages import Passage
from services.chat_api.use_cases.answer_call import AnswerFromPassages
from services.chat_api.use_cases.judged_release import Judging
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.turns import SETTINGS, make_turn, now

_MARKERS = re.compile(r" ?(?:\[\d+\])+")


@dataclass(frozen=True, slots=True)
class Answered:
    """`text` as the reader sees it, `bare` the same without markers. `quoted` tells that the fallback answered."""

    text: str
    cited: tuple[int, ...]
    reasons: tuple[str, ...]
    quoted: bool

    @property
    def bare(self) -> str:
        return " ".join(_MARKERS.sub("", self.text).split())

    def holds(self, text: str) -> bool:
        return " ".join(text.split()).casefold() in self.bare.casefold()


async def answer(
    question: str,
    passages: Sequence[Passage],
    model: ModelClient | str,
    judging: Judging | None = None,
    *,
    model_name: str = "any",
) -> Answered:
    """`model` is a client, or the text that a scripted one streams."""
    client = ScriptedModel(Reply([TextDelta(model)])) if isinstance(model, str) else model
    turn = make_turn(question, passages, client, model_name=model_name)
    await AnswerFromPassages(SETTINGS, now, judging).execute(turn, question)
    record = turn.record
    return Answered(
        record.content,
        tuple(citation.n for citation in record.citations),
        tuple(rejection.reason.value for rejection in record.rejections),
        "fell_back_to_quotes" in record.notes,
    )


def packed(section: Section, sections: Sequence[Section], size: int = 3) -> tuple[Passage, ...]:
    """The section's passage and its neighbours of the same article, numbered from 1 as a turn would number them."""
    near = [other for other in sections if other.article == section.article and other is not section]
    chosen = [section, *near][:size]
    return tuple(
        Passage(n, one.passage.record_id, one.passage.chunk_id, one.passage.title, one.passage.text, "", "xquad")
        for n, one in enumerate(chosen, start=1)
    )


def gold_sentence(section: Section, gold: str) -> str | None:
    """The sentence of the passage that holds the gold answer, None where the answer spans several."""
    return next((sentence for sentence in section.sentences if gold in sentence), None)
