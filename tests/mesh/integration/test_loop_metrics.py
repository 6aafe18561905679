"""The figures of the loop: read when asked for, and no figure at all when they cannot be."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from shared.database.engine import make_engine
from shared.messaging.canary import CanarySender
from shared.messaging.loop_health import OUR_CONSUMERS
from shared.messaging.loop_metrics import LoopMetrics
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-16")]
_FIGURES = ("achilles_outbox_rows", "achilles_outbox_oldest_seconds", "achilles_dead_letters")


def _shown(registry: CollectorRegistry, name: str, **labels: str) -> float:
    value = registry.get_sample_value(name, labels)
    assert value is not None
    return value


async def test_what_waits_is_shown_with_its_age(engine: AsyncEngine, rows: Rows) -> None:
    registry = CollectorRegistry()
    metrics = LoopMetrics(engine, OUR_CONSUMERS, registry)
    await metrics.refresh()
    assert [_shown(registry, name) for name in _FIGURES] == [0, 0, 0]
    assert math.isnan(_shown(registry, "achilles_canary_age_seconds", consumer="signal_worker"))
    sender = CanarySender(engine, every=timedelta(seconds=30), source="test", now=lambda: datetime.now(UTC))
    assert await sender.send_due() == 2
    await rows.run("UPDATE mesh.outbox SET created_at = now() - interval '5 minutes'")
    await metrics.refresh()
    assert _shown(registry, "achilles_outbox_rows") == 2
    assert 300 <= _shown(registry, "achilles_outbox_oldest_seconds") < 400
    assert _shown(registry, "achilles_canary_sent_age_seconds", stream=OUR_CONSUMERS["signal_worker"]) < 60


async def test_figures_that_cannot_be_read_are_none_and_not_nought(engine: AsyncEngine) -> None:
    away = make_engine("postgresql://nobody:x@127.0.0.1:1/none", application_name="test")
    registry = CollectorRegistry()
    await LoopMetrics(away, OUR_CONSUMERS, registry).refresh()
    await away.dispose()
    assert _shown(registry, "achilles_loop_figures_readable") == 0
    assert all(math.isnan(_shown(registry, name)) for name in _FIGURES)
