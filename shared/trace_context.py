"""W3C trace context: taken from whoever calls us, handed to whomever we call, and named in every log line.

Spans are recorded where a collector is configured (shared/tracing.py); without one the context still travels.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import context, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from shared.tracing import current_recorder

_propagator = TraceContextTextMapPropagator()
_NOT_SAMPLED = trace.TraceFlags(0)


@contextmanager
def trace_of(headers: Mapping[str, str]) -> Iterator[None]:
    """Go on with the trace that the headers name, or begin one. A malformed `traceparent` counts as none."""
    found = _propagator.extract(headers)
    # Where spans are recorded, the first one begins the trace, and the sampler decides about it.
    if current_recorder() is None and not trace.get_current_span(found).get_span_context().is_valid:
        found = trace.set_span_in_context(trace.NonRecordingSpan(_new_span_context()))
    token = context.attach(found)
    try:
        yield
    finally:
        context.detach(token)


def span_id() -> str | None:
    """16 hex digits, or None outside of a trace."""
    current = trace.get_current_span().get_span_context()
    return trace.format_span_id(current.span_id) if current.is_valid else None


def context_of(headers: Mapping[str, str]) -> context.Context:
    """The context that the headers name, to be the parent of a span; an empty one if they name none."""
    return _propagator.extract(headers, context=context.Context())


def trace_id_of(headers: Mapping[str, str]) -> str | None:
    """For log lines about a message; None where its headers name no trace."""
    named = trace.get_current_span(context_of(headers)).get_span_context()
    return trace.format_trace_id(named.trace_id) if named.is_valid else None


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
