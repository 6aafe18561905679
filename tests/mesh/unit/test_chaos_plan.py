"""A plan of faults follows from its seed and spares nobody."""

import pytest

from tests.support.chaos.plan import PROCESSES, make_plan

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def test_the_same_seed_gives_the_same_faults() -> None:
    assert make_plan(7, 30, every=1) == make_plan(7, 30, every=1)
    assert make_plan(7, 30, every=1) != make_plan(8, 30, every=1)


@pytest.mark.parametrize("seconds", [10, 30, 300])
def test_every_process_is_killed_and_the_streams_are_wiped(seconds: float) -> None:
    for seed in range(20):
        plan = make_plan(seed, seconds, every=1.2)
        assert {fault.target for fault in plan if fault.kind == "kill"} == set(PROCESSES)
        assert any(fault.kind == "wipe_streams" for fault in plan)
        assert [fault.at for fault in plan] == sorted(fault.at for fault in plan)
        assert all(0 <= fault.at <= seconds for fault in plan)
