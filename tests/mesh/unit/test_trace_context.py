import json
import logging

import pytest

from shared.telemetry import JsonFormatter
from shared.trace_context import trace_headers, trace_id, trace_of

pytestmark = [pytest.mark.unit, pytest.mark.p1]
TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_a_callers_trace_is_gone_on_with() -> None:
    with trace_of({"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "tracestate": "vendor=1"}):
        assert trace_id() == TRACE
        headers = trace_headers()
    assert headers["traceparent"].split("-")[1] == TRACE
    assert headers["tracestate"] == "vendor=1"


@pytest.mark.parametrize("traceparent", ["", "nonsense", f"00-{'0' * 32}-b7ad6b7169203331-01", "00-xyz-1-01", "00-1"])
def test_without_a_valid_one_a_trace_begins(traceparent: str) -> None:
    with trace_of({"traceparent": traceparent}):
        begun = trace_id()
        assert begun
        assert begun in trace_headers()["traceparent"]
    with trace_of({}):
        assert trace_id() != begun


def test_outside_of_a_trace_nothing_is_handed_on() -> None:
    assert (trace_id(), trace_headers()) == (None, {})


def test_baggage_of_a_caller_goes_nowhere() -> None:
    with trace_of({"baggage": "secret=1"}):
        assert set(trace_headers()) == {"traceparent"}


def test_a_log_line_names_its_trace() -> None:
    record = logging.makeLogRecord({"name": "services.chat_api", "msg": "turn_finished", "levelname": "INFO"})
    with trace_of({"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}):
        line = json.loads(JsonFormatter("chat_api").format(record))
    assert line["trace_id"] == TRACE
