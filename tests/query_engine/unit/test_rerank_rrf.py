"""One stable order."""

import random
from dataclasses import replace

import pytest

from services.chat_api.domain.ranking import merge_ranked
from tests.support.factories import make_candidate

pytestmark = [pytest.mark.unit, pytest.mark.p1]


@pytest.mark.req("RRF-1", "RRF-2")
def test_order_follows_the_stores_rank_for_any_input_order() -> None:
    candidates = [make_candidate(f"{at:02}.md", rank=at) for at in range(1, 15)]
    shuffled = candidates[:]
    random.Random(7).shuffle(shuffled)
    assert merge_ranked(shuffled) == candidates


@pytest.mark.req("RRF-2")
def test_ties_are_broken_by_ids() -> None:
    tied = [make_candidate("b.md"), make_candidate("a.md", ordinal=2), make_candidate("a.md", ordinal=1)]
    assert [one.chunk_id for one in merge_ranked(tied)] == ["a.md#1", "a.md#2", "b.md#1"]


@pytest.mark.req("RRF-4")
def test_nothing_stays_nothing() -> None:
    assert merge_ranked([]) == []


@pytest.mark.req("RRF-5")
def test_the_web_stands_after_knowledge_of_the_same_rank() -> None:
    knowledge = [make_candidate(f"k{at}.md", rank=at) for at in (1, 2, 3)]
    web = [replace(make_candidate(f"https://a.example/{at}", rank=at), origin="web") for at in (1, 2)]
    expected = [knowledge[0], web[0], knowledge[1], web[1], knowledge[2]]
    for seed in range(20):
        shuffled = [*knowledge, *web]
        random.Random(seed).shuffle(shuffled)
        assert merge_ranked(shuffled) == expected
