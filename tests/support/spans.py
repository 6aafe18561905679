"""Spans recorded in the process of a test."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from shared.tracing import Recorder, recorded_with


class RecordedSpans:
    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.recorder = Recorder(provider.get_tracer("test"), provider.force_flush)

    @property
    def finished(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def one(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.finished if span.name == name)
        return found


@contextmanager
def recording() -> Iterator[RecordedSpans]:
    """Everything that is begun inside is recorded, also by servers and tasks that are started inside."""
    spans = RecordedSpans()
    with recorded_with(spans.recorder):
        yield spans
