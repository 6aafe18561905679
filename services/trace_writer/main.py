"""The trace writer's process."""

import uvicorn
from starlette.applications import Starlette

from services.trace_writer.settings import TraceWriterSettings
from services.trace_writer.wiring import EFFECTS, TRACE_CONSUMER
from shared.messaging.worker import create_worker_app
from shared.settings import settings_or_exit
from shared.telemetry import configure_logging
from shared.trace_export import start_tracing


def create_app(settings: TraceWriterSettings) -> Starlette:
    return create_worker_app(settings, TRACE_CONSUMER, EFFECTS)


def run() -> None:
    settings = settings_or_exit(TraceWriterSettings)
    configure_logging("trace_writer", settings.log_level)
    start_tracing("trace_writer")
    uvicorn.run(create_app(settings), host=settings.host, port=settings.trace_writer_port, log_config=None)
