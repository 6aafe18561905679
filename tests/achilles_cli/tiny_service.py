"""A child with `/readyz` that crashes when it is told to, and notes when it is asked to end.

`python tiny_service.py NAME PORT NOTES`
"""

import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

NAME, PORT, NOTES = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/crash":
            sys.stdout.write("the disk is full\n")
            sys.stdout.flush()
            os._exit(3)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        return


def note_and_end(_number: int, _frame: object) -> None:
    with NOTES.open("a") as notes:
        notes.write(f"{NAME}\n")
    os._exit(0)


signal.signal(signal.SIGTERM, note_and_end)
HTTPServer(("127.0.0.1", PORT), Answers).serve_forever()
