"""Trust is the sum of decayed weights, whatever the order, and does no more than decide between near neighbours."""

import math
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.knowledge_store.domain.candidates import Candidate, Question
from services.knowledge_store.domain.fusion import MAX_TRUST_BONUS, fuse, rrf_score, trust_bonus
from services.knowledge_store.domain.outcome import select_hits
from services.knowledge_store.domain.trust import Access, Trust, TrustRule

pytestmark = [pytest.mark.unit, pytest.mark.p1]

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RULE = TrustRule(half_life=timedelta(days=90), cited_weight=1.0, clicked_weight=3.0)


def make_access(days_ago: float, kind: str = "cited", record_id: str = "a") -> Access:
    return Access(uuid4(), record_id, "clicked" if kind == "clicked" else "cited", NOW - timedelta(days=days_ago))


def fold(accesses: list[Access], rule: TrustRule = RULE) -> Trust | None:
    trust: Trust | None = None
    for access in accesses:
        trust = rule.add(trust, access)
    return trust


@pytest.mark.req("MESH-14")
@given(
    st.lists(st.tuples(st.floats(0, 2_000), st.sampled_from(["cited", "clicked"])), min_size=1, max_size=40),
    st.floats(0.5, 1_000),
    st.floats(0, 500),
    st.randoms(use_true_random=False),
)
def test_score_is_the_closed_form_in_any_order_of_arrival(
    uses: list[tuple[float, str]], half_life_days: float, later_days: float, random: object
) -> None:
    rule = TrustRule(timedelta(days=half_life_days), 1.0, 3.0)
    accesses = [make_access(days, kind) for days, kind in uses]
    random.shuffle(accesses)  # type: ignore[attr-defined]
    trust = fold(accesses, rule)
    assert trust is not None
    when = NOW + timedelta(days=later_days)
    closed_form = sum(
        (3.0 if access.kind == "clicked" else 1.0)
        * 2 ** -((when - access.occurred_at).total_seconds() / (half_life_days * 86_400))
        for access in accesses
    )
    assert math.isclose(rule.at(trust, when), closed_form, rel_tol=1e-6, abs_tol=1e-12)


def test_worked_example() -> None:
    """A click today, a citation one half-life ago and one two half-lives ago: 3 + 1/2 + 1/4."""
    trust = fold([make_access(0, "clicked"), make_access(90), make_access(180)])
    assert trust is not None
    assert math.isclose(RULE.at(trust, NOW), 3.75)
    assert math.isclose(RULE.at(trust, NOW + timedelta(days=90)), 1.875)


def make_candidate(record_id: str, lexical: int | None, semantic: int | None, cosine: float = 0.9) -> Candidate:
    return Candidate(record_id, f"{record_id}#0", "en", lexical, semantic, cosine, 0.8)


QUESTION = Question((), "en", (), {"en": 0.75, "de": 0.75, "ru": 0.75, "cjk": 0.75, "other": 0.75})


@given(st.floats(0, 1e12))
def test_bonus_never_makes_up_for_two_places_in_both_legs(trust: float) -> None:
    assert 0.0 <= trust_bonus(trust) <= MAX_TRUST_BONUS
    assert rrf_score((1, 1)) - rrf_score((3, 3)) > MAX_TRUST_BONUS


def test_trust_decides_between_equals_and_leaves_a_clear_order_alone() -> None:
    equals = [make_candidate("a", 1, 2), make_candidate("b", 2, 1)]
    assert [c.record_id for c in fuse(equals)] == ["a", "b"]
    assert [c.record_id for c in fuse(equals, {"b": 1.0})] == ["b", "a"]
    nearly = [make_candidate("a", 1, 1), make_candidate("b", 2, 2)]
    assert [c.record_id for c in fuse(nearly, {"b": 1.0})] == ["a", "b"]
    assert [c.record_id for c in fuse(nearly, {"b": 90.0})] == ["b", "a"]
    apart = [make_candidate("a", 1, 1), make_candidate("b", 3, 3)]
    assert [c.record_id for c in fuse(apart, {"b": 1e9})] == ["a", "b"]


@given(st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1e9)))
def test_trust_makes_nothing_relevant_and_hides_nothing(trust: dict[str, float]) -> None:
    far = [make_candidate(name, n, n, cosine=0.7) for n, name in enumerate("abcd", start=1)]
    assert select_hits(QUESTION, far, 8, trust) == []
    mixed = [make_candidate("a", 1, 1), make_candidate("b", 2, 2, cosine=0.6), make_candidate("c", 3, 3)]
    assert {c.record_id for c in select_hits(QUESTION, mixed, 8, trust)} == {
        c.record_id for c in select_hits(QUESTION, mixed, 8)
    }


def test_what_is_long_past_is_beyond_the_horizon() -> None:
    assert RULE.horizon(NOW) == NOW - timedelta(days=1_800)
    assert TrustRule(timedelta(days=1_000_000), 1, 1).horizon(NOW) == datetime.min.replace(tzinfo=UTC)
