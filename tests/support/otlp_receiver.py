"""A collector: takes spans over OTLP (http/protobuf) in a thread of its own, for processes of any kind."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """Ids are hex digits; `parent_id` is empty at the root."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, str | int | float | bool]
    failed: bool


class OtlpReceiver:
    def __init__(self) -> None:
        self.url = ""
        self._bodies: list[bytes] = []
        self._lock = threading.Lock()

    @property
    def raw(self) -> bytes:
        """Everything that was ever sent, as it was sent."""
        with self._lock:
            return b"\n".join(self._bodies)

    @property
    def spans(self) -> list[ReceivedSpan]:
        with self._lock:
            bodies = list(self._bodies)
        return [span for body in bodies for span in _parse(body)]

    def of_trace(self, trace_id: str) -> dict[str, ReceivedSpan]:
        """By span id."""
        return {span.span_id: span for span in self.spans if span.trace_id == trace_id}

    def take(self, body: bytes) -> None:
        with self._lock:
            self._bodies.append(body)


@contextmanager
def receiving_spans() -> Iterator[OtlpReceiver]:
    receiver = OtlpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Tests say enough."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def _parse(body: bytes) -> Iterator[ReceivedSpan]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = str(_values(resource.resource.attributes)["service.name"])
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield ReceivedSpan(
                    service=service,
                    name=span.name,
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    attributes=_values(span.attributes),
                    failed=span.status.code == span.status.STATUS_CODE_ERROR,
                )


def _values(pairs: Iterable[KeyValue]) -> dict[str, str | int | float | bool]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}
