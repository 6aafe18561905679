"""Reciprocal rank fusion is stable: the same candidates give the same order, whatever order they come in."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.knowledge_store.domain.candidates import Candidate
from services.knowledge_store.domain.fusion import fuse, rrf_score

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def make_candidate(name: str, lexical: int | None, semantic: int | None) -> Candidate:
    return Candidate(
        record_id=name,
        chunk_id=f"{name}#0",
        language="en",
        lexical_rank=lexical,
        semantic_rank=semantic,
        cosine=0.9,
        coverage=0.5,
    )


def test_found_by_both_legs_beats_found_first_by_one() -> None:
    both, one = make_candidate("b", 3, 3), make_candidate("a", 1, None)
    assert fuse([one, both]) == [both, one]


def test_score_is_the_sum_of_reciprocal_ranks_with_k_60() -> None:
    assert rrf_score((1, 2)) == pytest.approx(1 / 61 + 1 / 62)


def test_equal_scores_are_ordered_by_id() -> None:
    first, second = make_candidate("a", 1, 2), make_candidate("b", 2, 1)
    assert fuse([second, first]) == [first, second]


@given(st.randoms(use_true_random=False), st.integers(0, 30))
def test_input_order_does_not_matter(chance: random.Random, count: int) -> None:
    candidates = [make_candidate(f"r{n}", chance.choice([None, n % 7 + 1]), n % 5 + 1) for n in range(count)]
    shuffled = candidates.copy()
    chance.shuffle(shuffled)
    assert fuse(shuffled) == fuse(candidates)
