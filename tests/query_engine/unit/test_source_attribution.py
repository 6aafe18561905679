"""Citations point at records."""

import pytest

from services.chat_api.domain.citations import cite
from services.chat_api.domain.grounding.release import Support
from services.chat_api.domain.hint import HintSource, make_hint
from tests.support.factories import make_passage

pytestmark = [pytest.mark.unit, pytest.mark.p1]


@pytest.mark.req("CITE-1", "CITE-2")
def test_chunks_of_one_record_fold_into_one_citation_with_its_best_chunk() -> None:
    passages = [make_passage(1, ordinal=1), make_passage(1, ordinal=2), make_passage(2, record_id="b.md")]
    citations = cite(passages, [1, 1], lambda n: Support(f"handbook/leave.md#{n + 1}", "The sentence."))
    assert [(one.n, one.record_id, one.chunk_id, one.quote) for one in citations] == [
        (1, "handbook/leave.md", "handbook/leave.md#2", "The sentence.")
    ]


@pytest.mark.req("CITE-4")
def test_citations_stand_in_the_order_of_relevance() -> None:
    passages = [make_passage(1, record_id="a.md"), make_passage(2, record_id="b.md"), make_passage(3, record_id="c.md")]
    assert [one.n for one in cite(passages, [3, 1], lambda _n: None)] == [1, 3]


def test_a_number_that_was_not_packed_is_never_listed() -> None:
    assert cite([make_passage(1)], [7], lambda _n: None) == ()


def test_the_hint_is_the_same_bytes_for_the_same_hidden_sources() -> None:
    one, two = HintSource(source_system="HR", contact="h@x.example"), HintSource(source_system="Finance")
    assert make_hint([one, two, one], "en") == make_hint([two, one], "en")
    assert make_hint([two], "de").text == "Dazu gibt es etwas, aber Sie haben darauf keinen Zugriff. Quelle: Finance."
