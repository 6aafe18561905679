"""What a relay does, as figures."""

from collections import Counter as Tally
from collections.abc import Sequence
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from shared.messaging.bus import Bus
from shared.messaging.outbox import ClaimedEvent

Fate = Literal["sent", "no_stream", "failed", "denied"]
_BATCH_SIZES = (1, 2, 5, 10, 25, 50, 100, 200)


class RelayMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._published = Counter(
            "achilles_relay_events",
            "Events given to the bus, by what came of it",
            ["subject", "result"],
            registry=registry,
        )
        self._resent = Counter(
            "achilles_relay_resent",
            "Events sent again because their effect did not come",
            ["subject"],
            registry=registry,
        )
        self._batches = Histogram(
            "achilles_relay_batch_size", "Events claimed at once", buckets=_BATCH_SIZES, registry=registry
        )
        self._faults = Counter(
            "achilles_relay_faults", "Rounds of the relay that failed, by class", ["error"], registry=registry
        )
        self._connected = Gauge("achilles_bus_connected", "1 while this process reaches NATS", registry=registry)

    def watch(self, bus: Bus) -> None:
        self._connected.set_function(lambda: float(bus.connected))

    def sent(self, events: Sequence[ClaimedEvent], fates: Sequence[Fate]) -> None:
        """One batch. An empty one is not worth a figure."""
        if not events:
            return
        self._batches.observe(len(events))
        subjects = [event.subject for event in events]
        for (subject, fate), count in Tally(zip(subjects, fates, strict=True)).items():
            self._published.labels(subject, fate).inc(count)
        for subject, count in Tally(event.subject for event in events if event.epoch > 1).items():
            self._resent.labels(subject).inc(count)

    def failed(self, fault: Exception) -> None:
        self._faults.labels(type(fault).__name__).inc()
