"""What a durable consumer does, as figures. Labels hold names of ours, never what an event says."""

from collections import Counter as Tally
from collections.abc import Sequence
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from shared.events import EVENT_BY_SUBJECT
from shared.messaging.delivery import Outcome

_BATCH_SIZES = (1, 2, 5, 10, 25, 50, 100, 200, 500)
_LAGS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800)
_WRITES = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15)


class ConsumerMetrics:
    def __init__(self, consumer: str, registry: CollectorRegistry) -> None:
        self._events = Counter(
            "achilles_events", "Events by what came of them", ["consumer", "subject", "result"], registry=registry
        )
        self._redelivered = Counter(
            "achilles_event_redeliveries", "Messages that came again from the broker", ["consumer"], registry=registry
        )
        self._batches = Histogram(
            "achilles_event_batch_size",
            "Events in one transaction",
            ["consumer"],
            buckets=_BATCH_SIZES,
            registry=registry,
        )
        self._lag = Histogram(
            "achilles_event_lag_seconds",
            "From what happened (ce-time) to its committed effect",
            ["consumer"],
            buckets=_LAGS,
            registry=registry,
        )
        self._write = Histogram(
            "achilles_event_write_seconds",
            "One transaction with its effects",
            ["consumer"],
            buckets=_WRITES,
            registry=registry,
        )
        self._postponed = Counter(
            "achilles_event_batches_postponed",
            "Transactions that failed and were tried again, by class",
            ["consumer", "error"],
            registry=registry,
        )
        self._pull_errors = Counter(
            "achilles_pull_errors", "Fetches that failed, by class", ["consumer", "error"], registry=registry
        )
        self._lost = Counter(
            "achilles_consumer_lost",
            "Times that everything was opened anew, by class",
            ["consumer", "error"],
            registry=registry,
        )
        self._consuming = Gauge("achilles_consumer_up", "1 while messages are taken", ["consumer"], registry=registry)
        self._consumer = consumer
        for by_consumer in (self._redelivered, self._batches, self._lag, self._write, self._consuming):
            by_consumer.labels(consumer)

    def consuming(self, up: bool) -> None:
        self._consuming.labels(self._consumer).set(up)

    def lost(self, fault: Exception) -> None:
        self._lost.labels(self._consumer, type(fault).__name__).inc()

    def pull_failed(self, fault: Exception) -> None:
        self._pull_errors.labels(self._consumer, type(fault).__name__).inc()

    def postponed(self, fault: Exception) -> None:
        self._postponed.labels(self._consumer, type(fault).__name__).inc()

    def written(self, outcomes: Sequence[Outcome], seconds: float) -> None:
        """One committed batch; `seconds` is what its last, successful transaction took."""
        name, now = self._consumer, datetime.now(UTC)
        self._batches.labels(name).observe(len(outcomes))
        self._write.labels(name).observe(seconds)
        for (subject, fate), count in Tally((_subject(one), one.fate) for one in outcomes).items():
            self._events.labels(name, subject, fate).inc(count)
        lag = self._lag.labels(name)
        again = 0
        for one in outcomes:
            again += one.delivery.deliveries > 1
            happened = one.delivery.occurred_at
            if happened is not None:
                lag.observe(max(0.0, (now - happened).total_seconds()))
        self._redelivered.labels(name).inc(again)


def _subject(outcome: Outcome) -> str:
    """Anybody who may publish can invent subjects, and each would be a series of its own."""
    subject = outcome.delivery.subject
    return subject if subject in EVENT_BY_SUBJECT else "unknown"
