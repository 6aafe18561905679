"""Structured logs: one JSON object a line, with names and figures, never with what people wrote."""

import json
import logging
import sys
import threading
import warnings
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TextIO

from shared.trace_context import span_id, trace_id

logger = logging.getLogger(__name__)
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}
# Whose messages name nothing but our own parts. Libraries may put what they were given into theirs.
_TRUSTED = ("services.", "shared.", "uvicorn")
_TRACEBACK = "Traceback (most recent call last)"


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
            "event": _event_of(record),
        }
        current_trace = trace_id()
        if current_trace:
            line["trace_id"] = current_trace
            line["span_id"] = span_id()
        if record.name.startswith(_TRUSTED):
            line.update({name: value for name, value in vars(record).items() if name not in _STANDARD})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["where"] = _where(record)
        return json.dumps(line, ensure_ascii=False, default=_type_name)


def _event_of(record: logging.LogRecord) -> str:
    """Of a library's message only the template, without what it was given, and of a traceback only the class."""
    text = record.getMessage() if record.name.startswith(_TRUSTED) else str(record.msg)
    lines = text.strip().splitlines() or [""]
    if lines[0].startswith(_TRACEBACK):
        return lines[-1].partition(":")[0]
    return lines[0]


def _type_name(value: object) -> str:
    """An object's own text may quote a value."""
    return type(value).__name__


def _where(record: logging.LogRecord) -> list[str]:
    """File and line of each frame. An exception's own text may quote a value, so it is left out."""
    frames: list[str] = []
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return frames[-8:]


def configure_logging(service: str, level: str = "INFO") -> None:
    """Send every log line of this process to standard output as JSON, also what would have gone to standard error."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter(service))
    logging.basicConfig(handlers=[handler], level=level, force=True)
    warnings.showwarning = _log_warning
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda fault: _log_uncaught(
        fault.exc_type, fault.exc_value or fault.exc_type(), fault.exc_traceback
    )
    for noisy in (
        "httpx",
        "httpcore",
        "nats.aio.client",
        "faststream",
        "uvicorn.access",
        "aiohttp.access",
    ):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    logger.warning("python_warning", extra={"category": category.__name__, "where": f"{Path(filename).name}:{lineno}"})


def _log_uncaught(kind: type[BaseException], fault: BaseException, where: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    logger.critical("uncaught", exc_info=(kind, fault, where))
