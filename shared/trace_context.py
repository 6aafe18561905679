"""W3C trace context: taken from whoever calls us, handed to whomever we call, and named in every log line.

Spans are recorded where an OpenTelemetry SDK is set up; without one the context still travels.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import context, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_propagator = TraceContextTextMapPropagator()
_NOT_SAMPLED = trace.TraceFlags(0)


@contextmanager
def trace_of(headers: Mapping[str, str]) -> Iterator[None]:
    """Go on with the trace that the headers name, or begin one. A malformed `traceparent` counts as none."""
    found = _propagator.extract(headers)
    if not trace.get_current_span(found).get_span_context().is_valid:
        found = trace.set_span_in_context(trace.NonRecordingSpan(_new_span_context()))
    token = context.attach(found)
    try:
        yield
    finally:
        context.detach(token)


def trace_headers() -> dict[str, str]:
    """`traceparent`, and `tracestate` where there is one, of the trace that is going on; empty outside of one."""
    headers: dict[str, str] = {}
    _propagator.inject(headers)
    return headers


def trace_id() -> str | None:
    """32 hex digits, or None outside of a trace."""
    current = trace.get_current_span().get_span_context()
    return trace.format_trace_id(current.trace_id) if current.is_valid else None


def _new_span_context() -> trace.SpanContext:
    # Zero is the invalid id in both fields.
    return trace.SpanContext(
        trace_id=secrets.randbits(128) or 1,
        span_id=secrets.randbits(64) or 1,
        is_remote=False,
        trace_flags=_NOT_SAMPLED,
    )
