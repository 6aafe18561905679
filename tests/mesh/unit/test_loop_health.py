"""Each way in which a part can stop in silence, and what health says of it."""

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from shared.messaging.leg_texts import LANGUAGES, leg_text, leg_texts
from shared.messaging.loop_health import HealthPolicy, Leg, LegReason, LoopFigures, judge, worst

pytestmark = [pytest.mark.unit, pytest.mark.p1]

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
CONSUMERS = {"signal_worker": "S", "trace_writer": "T"}


def _ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def _figures(
    *,
    oldest: datetime | None = None,
    letters: int = 0,
    sent: dict[str, datetime] | None = None,
    applied: dict[str, datetime] | None = None,
) -> LoopFigures:
    fresh = {"S": _ago(10), "T": _ago(10)}
    arrived = {"signal_worker": _ago(10), "trace_writer": _ago(10)}
    return LoopFigures(
        NOW, 0 if oldest is None else 1, oldest, letters, fresh if sent is None else sent, arrived | (applied or {})
    )


def _legs(figures: LoopFigures) -> dict[str, Leg]:
    return {leg.name: leg for leg in judge(figures, CONSUMERS, HealthPolicy())}


def test_all_is_green_while_canaries_arrive() -> None:
    legs = _legs(_figures())
    assert worst(list(legs.values())) == "green"
    assert set(legs) == {"ledger", "canaries", "consumer:signal_worker", "consumer:trace_writer", "dead_letters"}


@pytest.mark.parametrize(("age", "state"), [(5, "green"), (90, "amber"), (121, "red")])
def test_the_oldest_row_of_the_ledger_is_the_measure(age: float, state: str) -> None:
    assert _legs(_figures(oldest=_ago(age)))["ledger"].state == state


@pytest.mark.req("MESH-8")
def test_a_canary_that_does_not_arrive_turns_its_consumer_red_and_no_other() -> None:
    legs = _legs(_figures(applied={"trace_writer": _ago(91)}, oldest=_ago(80)))
    assert legs["consumer:trace_writer"].reason == "arrives_late"
    assert legs["consumer:signal_worker"].state == "green"
    assert worst(list(legs.values())) == "red"


def test_a_consumer_that_never_applied_one_is_red_once_it_had_its_time() -> None:
    def state(sent_ago: float) -> str:
        figures = LoopFigures(NOW, 1, _ago(sent_ago), 0, {"S": _ago(sent_ago), "T": _ago(1)}, {"trace_writer": _ago(1)})
        return _legs(figures)["consumer:signal_worker"].reason

    assert (state(20), state(95)) == ("starting", "never_arrived")


def test_canaries_that_nobody_sends_are_the_senders_fault_alone() -> None:
    long_ago = {"S": _ago(500), "T": _ago(500)}
    legs = _legs(_figures(sent=long_ago, applied={"signal_worker": _ago(500), "trace_writer": _ago(500)}))
    assert legs["canaries"].reason == "not_sent"
    assert legs["consumer:signal_worker"].state == "green"


def test_dead_letters_wait_for_a_person() -> None:
    leg = _legs(_figures(letters=2))["dead_letters"]
    assert (leg.state, leg.count) == ("amber", 2)


def test_nothing_is_called_green_before_the_first_canary() -> None:
    legs = judge(LoopFigures(NOW, 0, None, 0, {}, {}), CONSUMERS, HealthPolicy())
    assert worst(legs) == "amber"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_of_every_leg_is_said_in_every_language(language: str) -> None:
    texts = leg_texts(language)
    assert {kind: set(reasons) for kind, reasons in texts.items()} == {
        kind: set(reasons) for kind, reasons in leg_texts("en").items()
    }
    for kind, reasons in texts.items():
        for reason in reasons:
            leg = Leg(f"{kind}:worker", cast("LegReason", reason), age=130.0, count=3)
            assert "{" not in leg_text(leg, language)


def test_the_stores_own_consumer_is_judged_from_its_first_canary_on() -> None:
    assert "consumer:knowledge_store" not in _legs(_figures())
    stream = {"ACHILLES_SIGNAL": _ago(10)}
    works = judge(_figures(sent=stream, applied={"knowledge_store": _ago(40)}), {}, HealthPolicy())
    stopped = judge(_figures(sent=stream, applied={"knowledge_store": _ago(91)}), {}, HealthPolicy())
    assert [leg.reason for leg in works if leg.name == "consumer:knowledge_store"] == ["works"]
    assert [leg.reason for leg in stopped if leg.name == "consumer:knowledge_store"] == ["arrives_late"]
