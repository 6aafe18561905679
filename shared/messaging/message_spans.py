"""The spans of an event on its way: given to the bus, and applied. Both go on with the trace that its headers name."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from opentelemetry import trace
from opentelemetry.trace import SpanKind

from shared.messaging.delivery import Outcome
from shared.messaging.outbox import ClaimedEvent
from shared.trace_context import context_of
from shared.tracing import NoSpan, Recorder, Value, current_recorder, span


def publish_span(event: ClaimedEvent) -> NoSpan:
    """To be entered. What `headers()` gives then replaces the event's own trace headers."""
    if current_recorder() is None:
        return span("", {})
    attributes: dict[str, Value] = {
        "messaging.system": "nats",
        "messaging.operation.name": "publish",
        "messaging.operation.type": "send",
        "messaging.destination.name": event.subject,
        "messaging.message.id": str(event.event_id),
        "messaging.message.body.size": len(event.payload),
        "achilles.outbox.epoch": event.epoch,
    }
    return span(f"publish {event.subject}", attributes, SpanKind.PRODUCER, parent=context_of(event.headers))


@dataclass(slots=True)
class BatchTimes:
    """Nanoseconds since 1970. The transaction is the last one that was tried."""

    taken: int = field(default_factory=time.time_ns)
    transaction_began: int = 0
    committed: int = 0

    def begin(self) -> None:
        self.transaction_began = time.time_ns()

    def commit(self) -> None:
        self.committed = time.time_ns()

    @property
    def seconds(self) -> float:
        return (self.committed - self.transaction_began) / 1e9


def record_applied(consumer: str, outcomes: Sequence[Outcome], times: BatchTimes) -> None:
    """After the acknowledgement, since a batch belongs to many traces: for each of its events two spans in its own."""
    recorder = current_recorder()
    if recorder is None:
        return
    acknowledged = time.time_ns()
    for outcome in outcomes:
        process = _begin_process(recorder, consumer, outcome, len(outcomes), times)
        inside = trace.set_span_in_context(process)
        write = recorder.tracer.start_span(
            f"write {outcome.delivery.subject}",
            context=inside,
            kind=SpanKind.CLIENT,
            attributes={"db.system.name": "postgresql", "achilles.event.result": outcome.fate},
            start_time=times.transaction_began,
        )
        write.end(times.committed)
        process.end(acknowledged)


def _begin_process(recorder: Recorder, consumer: str, outcome: Outcome, batch: int, times: BatchTimes) -> trace.Span:
    delivery = outcome.delivery
    return recorder.tracer.start_span(
        f"process {delivery.subject}",
        context=context_of(delivery.headers),
        kind=SpanKind.CONSUMER,
        attributes={
            "messaging.system": "nats",
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.name": delivery.subject,
            "messaging.consumer.group.name": consumer,
            "messaging.message.id": delivery.event_id,
            "messaging.batch.message_count": batch,
            "achilles.event.result": outcome.fate,
            "achilles.event.deliveries": delivery.deliveries,
        },
        start_time=times.taken,
    )
