"""PERF-7: the relay, against publishing with as many awaited at once."""

import asyncio
import statistics
from collections.abc import AsyncIterator, Sequence

import msgspec

from benchmarks.mesh.sending import Sent
from benchmarks.mesh.stage import MeshStage
from benchmarks.turn.report import Row

_AT_MOST_SECONDS = 300.0


async def measure_relaying(stage: MeshStage, *, rounds: int, messages: int) -> AsyncIterator[Row]:
    child = stage.start("sending", stage.nats_url, stage.database_url, str(rounds), str(messages))
    await asyncio.to_thread(child.process.wait, _AT_MOST_SECONDS)
    said = child.log.read_text(errors="replace")
    if child.process.returncode:
        raise SystemExit(f"nothing was sent:\n{said[-2000:]}")
    sent = [msgspec.json.decode(line, type=Sent) for line in said.splitlines() if line.startswith('{"one_by_one')]
    yield _rate("floor: awaited publish, one after the other", [one.one_by_one for one in sent])
    yield _rate("floor: awaited publish, 200 in flight", [one.in_flight for one in sent])
    yield _rate("relay, 200 in flight", [one.relay for one in sent])
    yield _share("of publishing one after the other", [100 * one.relay / one.one_by_one for one in sent], None)
    yield _share("of publishing with 200 in flight", [100 * one.relay / one.in_flight for one in sent], 60)


def _rate(work: str, rates: Sequence[float]) -> Row:
    beside = f"{min(rates):.0f} to {max(rates):.0f}"
    return Row("", work, statistics.median(rates), "messages/s", None, beside)


def _share(work: str, shares: Sequence[float], target: float | None) -> Row:
    beside = f"{min(shares):.0f} to {max(shares):.0f} %"
    return Row("PERF-7" if target else "", work, statistics.median(shares), "%", target, beside, at_least=True)
