"""The floor: what passes alone, what passes only beside something better, and what a hint needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.knowledge_store.domain.background import BACKGROUND_TEXTS, mean_vector, nearness
from services.knowledge_store.domain.candidates import Candidate, Question
from services.knowledge_store.domain.language import LANGUAGES, Language
from services.knowledge_store.domain.lexemes import QuestionLexeme, coverage
from services.knowledge_store.domain.outcome import name_outcome, select_hits, select_withheld
from services.knowledge_store.domain.relevance import ANSWER_FLOOR, COMPANION_FLOOR, HINT_FLOOR, relevance

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def make_question(language: Language | None = "en", background: float = 0.74) -> Question:
    return Question(("leave",), language, (1.0,), dict.fromkeys(LANGUAGES, background))


def make_candidate(
    cosine: float, coverage: float, *, name: str = "a", language: Language = "en", rank: int = 1
) -> Candidate:
    return Candidate(f"h/{name}.md", f"h/{name}.md#0", language, rank, rank, cosine, coverage)


GOOD = make_candidate(0.89, 0.9)
WEAK = make_candidate(0.83, 0.3, name="b", rank=2)
UNRELATED = make_candidate(0.77, 0.0, name="c", rank=3)


def test_candidates_of_the_examples_lie_where_they_are_meant_to() -> None:
    question = make_question()
    assert relevance(question, GOOD) >= ANSWER_FLOOR
    assert COMPANION_FLOOR <= relevance(question, WEAK) < ANSWER_FLOOR
    assert relevance(question, UNRELATED) < COMPANION_FLOOR


def test_weak_chunk_is_shown_beside_a_good_one_and_not_alone() -> None:
    question = make_question()
    assert select_hits(question, [WEAK, UNRELATED, GOOD], 8) == [GOOD, WEAK]
    assert select_hits(question, [WEAK, UNRELATED], 8) == []


def test_weak_chunk_is_never_hinted_at() -> None:
    assert select_withheld(make_question(), [GOOD, WEAK, UNRELATED]) == {"h/a.md"}


def test_something_hidden_that_fits_far_worse_than_the_answer_is_no_hint() -> None:
    question = make_question()
    better = make_candidate(0.95, 1.0, name="d")
    nearly = make_candidate(0.92, 0.9, name="e")
    passing = make_candidate(0.845, 0.55, name="f")
    assert relevance(question, passing) >= HINT_FLOOR
    assert select_withheld(question, [passing], []) == {"h/f.md"}
    assert select_withheld(question, [passing, nearly], [better]) == {"h/e.md"}


def test_other_language_passes_on_its_cosine_alone() -> None:
    german = make_question("de")
    assert relevance(german, make_candidate(0.87, 0.0)) >= ANSWER_FLOOR
    assert relevance(german, make_candidate(0.77, 0.0)) < COMPANION_FLOOR


def test_question_near_to_every_text_needs_more() -> None:
    assert relevance(make_question(background=0.80), WEAK) < relevance(make_question(background=0.72), WEAK)


@given(
    st.sampled_from([None, *LANGUAGES]),
    st.sampled_from(LANGUAGES),
    st.floats(-1, 1),
    st.floats(-1, 1),
    st.floats(0, 1),
)
def test_relevance_is_a_share_for_every_pair_of_languages(
    asked: Language | None, language: Language, background: float, cosine: float, words: float
) -> None:
    value = relevance(make_question(asked, background), make_candidate(cosine, words, language=language))
    assert 0.0 <= value <= 1.0


def test_four_outcomes() -> None:
    outcomes = [name_outcome(has_hits=h, has_withheld=w) for h in (True, False) for w in (True, False)]
    assert outcomes == ["mixed", "hits", "withheld", "empty"]


def test_rare_words_weigh_more_than_common_ones() -> None:
    rare = QuestionLexeme("en", "sabbat", 1, 100, 80.0)
    common = QuestionLexeme("en", "day", 60, 100, 80.0)
    assert coverage([rare, common], "en", ["sabbat"]) > 0.8
    assert coverage([rare, common], "en", ["day"]) < 0.2
    assert coverage([rare, common], "de", ["day"]) == 0.0
    assert QuestionLexeme("en", "x", 100, 100, 80.0).weight > 0


def test_language_without_background_texts_borrows_some() -> None:
    near = nearness((1.0, 0.0), {"en": mean_vector([(1.0, 0.0), (0.0, 1.0)])})
    assert set(near.values()) == {0.5}
    assert set(BACKGROUND_TEXTS) == {"en", "de", "ru", "cjk"}
