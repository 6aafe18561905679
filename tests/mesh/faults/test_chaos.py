"""Everything dies at random under use, and afterwards every turn and every event is accounted for.

One seed by default. `pytest tests/mesh/faults -k chaos --chaos-seeds 10 --chaos-seconds 60 -s` runs ten seeds of a
minute each; `--chaos-first-seed` repeats a printed one.
"""

import pytest

from tests.support.chaos.plan import FRONTS, WORKERS, Fault, make_plan
from tests.support.chaos.rules import LOST
from tests.support.chaos.run import run_chaos
from tests.support.chaos.sabotage import sabotaged

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_FAULT_EVERY_SECONDS = 1.2
_WORKERS_KILLED = tuple(
    Fault(at=1.0 + number, kind="kill", target=target, lasts=0.2)
    for number, target in enumerate((*WORKERS, "signal_worker-1", "signal_worker-2"))
)
_STREAMS_WIPED = (
    *(Fault(at=1.0, kind="kill", target=target, lasts=5.0) for target in WORKERS),
    Fault(at=4.0, kind="wipe_streams", target="nats"),
)
_CONTROL_REST_SECONDS = 6.0


@pytest.mark.req("MESH-2", "MESH-3", "MESH-17")
async def test_no_event_is_lost_or_doubled_and_no_turn_is_half_written(chaos_seed: int, chaos_seconds: float) -> None:
    plan = make_plan(chaos_seed, chaos_seconds, every=_FAULT_EVERY_SECONDS)
    report = await run_chaos(chaos_seed, plan)
    assert not report.violations, report.text
    assert report.figures["turns"] > 10
    assert report.figures["events"] > 50
    assert report.worked == {*FRONTS, *WORKERS}


@pytest.mark.req("MESH-2")
async def test_the_checker_sees_workers_that_settle_before_the_commit() -> None:
    """Negative control: acknowledged and settled first, killed before the effect. Nothing is left to send again."""
    modules = sabotaged("settle_early", "signal_worker", "trace_writer")
    report = await run_chaos(1, _WORKERS_KILLED, modules=modules, rest_within=_CONTROL_REST_SECONDS)
    assert report.broke(LOST), report.text


@pytest.mark.req("MESH-3")
async def test_the_checker_sees_a_relay_that_deletes_on_publish() -> None:
    """Negative control: what the broker had acknowledged is gone with its store."""
    modules = sabotaged("delete_on_publish", "front")
    report = await run_chaos(1, _STREAMS_WIPED, modules=modules, rest_within=_CONTROL_REST_SECONDS)
    assert report.broke(LOST), report.text


async def test_an_acknowledgement_before_the_commit_alone_is_healed_by_the_ledger(
    request: pytest.FixtureRequest,
) -> None:
    """No control: the broker thinks that all is written, but the ledger's row is there and is sent again."""
    if request.config.getoption("--chaos-seeds") == 1:
        pytest.skip("part of the long run: --chaos-seeds 2 or more")
    modules = sabotaged("acknowledge_early", "signal_worker", "trace_writer")
    report = await run_chaos(1, _WORKERS_KILLED, modules=modules)
    assert not report.violations, report.text
