"""An OpenAI-compatible model in a thread of its own: it searches for what was asked and answers with the passages."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.openai_server import ENDING, chunk, tool_call

BREAKS = "break, please"


@contextmanager
def threaded_model(answer: str, *, fault: str = "") -> Iterator[str]:
    """Yields the base URL. A question that holds `BREAKS` is refused with an error whose text is `fault`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            question = body["messages"][-1]["content"]
            if BREAKS in question:
                self._send(500, "application/json", json.dumps({"error": {"message": fault}}).encode())
            else:
                self._send(200, "text/event-stream", _said(body, question, answer) + ENDING)

        def log_message(self, format: str, *args: object) -> None:
            """Tests say enough."""

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _said(body: dict[str, Any], question: str, answer: str) -> bytes:
    if body.get("tools"):
        return tool_call("search_knowledge", json.dumps({"query": question}))
    return chunk(content=answer)
