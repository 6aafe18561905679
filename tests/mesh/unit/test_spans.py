"""What is recorded, what is not, and that a collector which is away harms nobody."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from shared.request_trace import RequestTrace
from shared.trace_context import trace_headers, trace_of
from shared.trace_export import flush_spans, start_tracing
from shared.tracing import current_recorder, detached_span, span
from tests.support.spans import recording

pytestmark = [pytest.mark.unit, pytest.mark.p1, pytest.mark.req("MESH-16")]
_TRACE = "0af7651916cd43dd8448eb211c80319c"
_SECRET = "zanzibar"


def test_where_tracing_is_off_every_span_is_the_same_empty_one() -> None:
    with span("turn", {"a": 1}) as opened, span("call", {}) as inner:
        assert opened is inner
        assert not opened.recording
        assert opened.headers() == {}


def test_where_tracing_is_off_the_sdk_is_not_even_loaded() -> None:
    program = "import sys, services.chat_api.main; print('opentelemetry.sdk.trace' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_a_span_is_a_child_of_the_one_around_it_and_its_ids_travel_on() -> None:
    with recording() as spans, span("turn", {"outcome": "grounded", "left_out": None}), span("call", {}) as inner:
        sent = trace_headers()
        assert inner.headers() == sent
    turn, call = spans.one("turn"), spans.one("call")
    assert call.parent is not None
    assert turn.context is not None
    assert call.context is not None
    assert call.parent.span_id == turn.context.span_id
    assert sent["traceparent"].split("-")[2] == trace.format_span_id(call.context.span_id)
    assert dict(turn.attributes or {}) == {"outcome": "grounded"}


def test_a_fault_is_noted_by_its_class_and_never_by_its_text() -> None:
    with recording() as spans, suppress(ValueError), span("turn", {}):
        raise ValueError(_SECRET)
    turn = spans.one("turn")
    assert turn.status.status_code is StatusCode.ERROR
    assert dict(turn.attributes or {}) == {"error.type": "ValueError"}
    assert turn.events == ()
    assert _SECRET not in turn.to_json()


async def test_a_stream_is_produced_inside_its_span_and_consumed_outside_of_it() -> None:
    seen: list[str | None] = []

    async def items() -> AsyncGenerator[int, None]:
        for number in range(2):
            seen.append(trace_headers().get("traceparent"))
            yield number

    async def stream() -> AsyncGenerator[int, None]:
        with detached_span("chat", {}, SpanKind.CLIENT) as opened:
            async with aclosing(opened.following(items())) as following:
                async for item in following:
                    yield item

    with recording() as spans, span("turn", {}) as turn:
        async with aclosing(stream()) as chunks:
            async for _ in chunks:
                assert trace_headers() == turn.headers()
    context = spans.one("chat").context
    assert context is not None
    assert {str(one).split("-")[2] for one in seen} == {trace.format_span_id(context.span_id)}


async def test_a_stream_that_is_left_early_closes_its_source_and_ends_its_span() -> None:
    closed = asyncio.Event()

    async def items() -> AsyncGenerator[int, None]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    with recording() as spans, detached_span("chat", {}, SpanKind.CLIENT) as opened:
        async with aclosing(opened.following(items())) as following:
            await anext(following)
    assert closed.is_set()
    assert spans.one("chat").status.status_code is StatusCode.UNSET


async def _thing(_request: Request) -> Response:
    return PlainTextResponse("ok")


async def _broken(_request: Request) -> Response:
    return PlainTextResponse("broken", status_code=503)


def _client() -> TestClient:
    routes = [Route("/things/{name}", _thing), Route("/broken", _broken), Route("/livez", _thing)]
    return TestClient(RequestTrace(Starlette(routes=routes)))


def test_a_request_goes_on_with_its_callers_trace_and_its_path_is_not_told() -> None:
    with recording() as spans:
        _client().get(f"/things/{_SECRET}?q={_SECRET}", headers={"traceparent": f"00-{_TRACE}-b7ad6b7169203331-01"})
    (server,) = spans.finished
    assert server.context is not None
    assert server.parent is not None
    assert trace.format_trace_id(server.context.trace_id) == _TRACE
    assert trace.format_span_id(server.parent.span_id) == "b7ad6b7169203331"
    assert _SECRET not in server.to_json()
    assert (server.attributes or {})["http.response.status_code"] == 200


def test_a_request_without_a_trace_begins_one_that_is_recorded() -> None:
    with recording() as spans:
        _client().get("/things/a")
    assert spans.finished[0].parent is None


def test_a_caller_that_does_not_record_is_not_recorded() -> None:
    with recording() as spans:
        _client().get("/things/a", headers={"traceparent": f"00-{_TRACE}-b7ad6b7169203331-00"})
    assert spans.finished == ()


def test_a_server_fault_fails_the_span_and_what_machines_ask_is_left_out() -> None:
    with recording() as spans:
        _client().get("/livez")
        _client().get("/broken")
    (server,) = spans.finished
    assert server.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
    ],
    ids=["nothing", "disabled", "none", "grpc"],
)
async def test_nothing_is_recorded_unless_a_collector_of_our_protocol_is_named(environment: dict[str, str]) -> None:
    start_tracing("test", environment)
    assert current_recorder() is None


async def test_a_collector_that_takes_the_connection_and_never_answers_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        start_tracing("test")
        assert current_recorder() is not None
        began = time.monotonic()
        for _ in range(3_000):
            with trace_of({}), span("turn", {}):
                pass
        spent = time.monotonic() - began
        await flush_spans()
        assert spent < 5, "more than the queue holds, and nobody waited for room"
        assert time.monotonic() - began - spent < 6, "two seconds, and margin for a busy machine"
