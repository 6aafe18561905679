"""Structured logs: one JSON object a line, with names and figures, never with what people wrote."""

import json
import logging
import sys
from datetime import UTC, datetime

from shared.trace_context import trace_id

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonFormatter(logging.Formatter):
    """`logger.info("turn_finished", extra={"outcome": …})` becomes `{"time", "level", "service", "event", …}`."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "service": self._service,
            "logger": record.name,
            "event": record.getMessage(),
        }
        current_trace = trace_id()
        if current_trace:
            line["trace_id"] = current_trace
        line.update({name: value for name, value in vars(record).items() if name not in _STANDARD})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["where"] = _where(record)
        return json.dumps(line, ensure_ascii=False, default=str)


def _where(record: logging.LogRecord) -> list[str]:
    """File and line of each frame. An exception's own text may quote a value, so it is left out."""
    frames: list[str] = []
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return frames[-8:]


def configure_logging(service: str, level: str = "INFO") -> None:
    """Send every log line of this process to standard output as JSON."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter(service))
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for noisy in (
        "httpx",
        "httpcore",
        "nats.aio.client",
        "faststream",
        "uvicorn.access",
        "aiohttp.access",
    ):
        logging.getLogger(noisy).setLevel(logging.WARNING)
