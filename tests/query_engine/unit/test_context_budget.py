"""What fits into the window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chat_api.domain.budget import Window, cut_history, message_tokens
from services.chat_api.domain.packing import pack
from services.chat_api.domain.token_count import estimate_tokens
from tests.support.factories import make_candidate, make_history

pytestmark = [pytest.mark.unit, pytest.mark.p1]


@pytest.mark.req("BUDGET-1")
def test_oldest_whole_messages_are_dropped_first() -> None:
    history = make_history(("first " * 50, "one"), ("second", "two"), ("third", "three"))
    budget = sum(message_tokens(message.content) for message in history[2:])
    assert cut_history(history, budget) == history[2:]


@pytest.mark.req("BUDGET-5")
def test_an_answer_never_stands_without_its_question() -> None:
    history = make_history(("first", "one"), ("second", "two"))
    budget = sum(message_tokens(message.content) for message in history[1:])
    assert cut_history(history, budget) == history[2:]


def test_nothing_fits_nothing_is_kept() -> None:
    assert cut_history(make_history(("a" * 900, "b" * 900)), 10) == ()


@pytest.mark.req("BUDGET-2")
def test_a_passage_is_packed_whole_or_not_at_all() -> None:
    big = make_candidate("big.md", text="word " * 400)
    small = make_candidate("small.md", rank=2, text="Short and sweet.")
    packed = pack([big, small], 100, at_most=8)
    assert [passage.record_id for passage in packed] == ["small.md"]
    assert packed[0].text == "Short and sweet."


def test_numbers_are_given_per_record_in_order() -> None:
    candidates = [
        make_candidate("a.md", ordinal=1),
        make_candidate("b.md", rank=2),
        make_candidate("a.md", rank=3, ordinal=2),
    ]
    assert [passage.n for passage in pack(candidates, 10_000, at_most=8)] == [1, 2, 1]


@pytest.mark.req("RRF-3")
def test_no_more_than_top_k_are_packed() -> None:
    candidates = [make_candidate(f"{at}.md", rank=at) for at in range(1, 20)]
    assert len(pack(candidates, 100_000, at_most=5)) == 5


@pytest.mark.req("BUDGET-3")
@given(
    st.lists(st.text(max_size=400), max_size=12),
    st.lists(st.text(max_size=2_000), max_size=12),
    st.integers(min_value=1_000, max_value=8_000),
)
def test_history_and_passages_stay_below_what_the_answer_leaves(
    questions: list[str], texts: list[str], size: int
) -> None:
    window = Window(size, answer_reserve=500)
    free = window.free_after(100)
    history = cut_history(make_history(*((question, "ok") for question in questions)), round(free * 0.35))
    used = sum(message_tokens(message.content) for message in history)
    candidates = [make_candidate(f"{at}.md", rank=at + 1, text=text) for at, text in enumerate(texts)]
    packed = pack(candidates, free - used, at_most=8)
    used += sum(estimate_tokens(passage.text) for passage in packed)
    assert used + 100 + window.answer_reserve <= size


@given(st.text(max_size=500), st.text(max_size=500))
def test_estimates_never_shrink_when_text_grows(first: str, second: str) -> None:
    assert estimate_tokens(first + second) >= estimate_tokens(first)
    assert estimate_tokens("") == 0
