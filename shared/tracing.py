"""Spans: recorded where tracing is on, next to nothing where it is off. They hold names, ids and figures, no content.

Which tracer records is carried by the context of the process' first task, so it is set before the loop starts.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Value = str | int | float | bool | None
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Recorder:
    """`flush` sends what is recorded and not yet sent; it may block for as long as the collector likes."""

    tracer: trace.Tracer
    flush: Callable[[], object]


_recorder: ContextVar[Recorder | None] = ContextVar("achilles_recorder", default=None)


class NoSpan:
    """What is opened while nothing is recorded."""

    recording = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        """Nothing was begun."""

    def note(self, attributes: Mapping[str, Value]) -> None:
        """Add attributes; those that are None are left out."""

    def name(self, name: str) -> None:
        """Give it another name, once that is known."""

    def failed(self, kind: str) -> None:
        """Mark it as failed. `kind` is a class or a code, never a message: that may quote what people wrote."""

    def headers(self) -> dict[str, str]:
        """What is sent on to make the receiver's span a child of this one; empty where nothing is recorded."""
        return {}

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is begun inside is a child of this span, which goes on afterwards."""
        yield

    def following(self, items: AsyncGenerator[Item, None]) -> AsyncGenerator[Item, None]:
        """The same items, produced inside this span although they are consumed outside of it."""
        return items


class RecordedSpan(NoSpan):
    """The current one between `with` and its end; only `begin` and `end` where a generator holds it."""

    recording = True

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self._inside = trace.set_span_in_context(span)

    def __enter__(self) -> Self:
        self._token = context.attach(self._inside)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        context.detach(self._token)
        if kind is not None:
            self.failed(kind.__name__)
        self._span.end()

    def note(self, attributes: Mapping[str, Value]) -> None:
        self._span.set_attributes({name: value for name, value in attributes.items() if value is not None})

    def name(self, name: str) -> None:
        self._span.update_name(name)

    def failed(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        self._span.end()

    def headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        _propagator.inject(headers, context=self._inside)
        return headers

    @contextmanager
    def inside(self) -> Iterator[None]:
        token = context.attach(self._inside)
        try:
            yield
        finally:
            context.detach(token)

    async def following(self, items: AsyncGenerator[Item, None]) -> AsyncGenerator[Item, None]:
        # A generator runs in the context of whoever asks for the next item, so each step goes inside and out again.
        try:
            while True:
                token = context.attach(self._inside)
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    return
                finally:
                    context.detach(token)
                yield item
        finally:
            await items.aclose()


_NO_SPAN = NoSpan()
_propagator = TraceContextTextMapPropagator()


def span(
    name: str,
    attributes: Mapping[str, Value],
    kind: SpanKind = SpanKind.INTERNAL,
    parent: context.Context | None = None,
) -> NoSpan:
    """To be entered. It ends with its block, as failed if an exception leaves it. Without a `parent` it is a child of
    the current span."""
    recorder = _recorder.get()
    return _NO_SPAN if recorder is None else RecordedSpan(_start(recorder, name, attributes, kind, parent))


@contextmanager
def detached_span(name: str, attributes: Mapping[str, Value], kind: SpanKind) -> Iterator[NoSpan]:
    """For generators: it ends with its block and is never the current one of whoever consumes them."""
    recorder = _recorder.get()
    if recorder is None:
        yield _NO_SPAN
        return
    opened = RecordedSpan(_start(recorder, name, attributes, kind))
    try:
        yield opened
    except Exception as fault:
        opened.failed(type(fault).__name__)
        raise
    finally:
        opened.end()


def current_recorder() -> Recorder | None:
    """None where nothing is recorded."""
    return _recorder.get()


def record_with(recorder: Recorder) -> None:
    """Record everything that is begun from here on, in this context and those copied from it."""
    _recorder.set(recorder)


@contextmanager
def recorded_with(recorder: Recorder) -> Iterator[None]:
    """Record what is begun inside."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def _start(
    recorder: Recorder,
    name: str,
    attributes: Mapping[str, Value],
    kind: SpanKind,
    parent: context.Context | None = None,
) -> trace.Span:
    known = {key: value for key, value in attributes.items() if value is not None}
    # The library would note an exception with its text.
    return recorder.tracer.start_span(
        name, parent, kind=kind, attributes=known, record_exception=False, set_status_on_exception=False
    )
