"""The signal worker's process."""

import uvicorn
from starlette.applications import Starlette

from services.signal_worker.settings import SignalWorkerSettings
from services.signal_worker.wiring import EFFECTS, SIGNAL_CONSUMER
from shared.messaging.worker import create_worker_app
from shared.settings import settings_or_exit
from shared.telemetry import configure_logging
from shared.trace_export import start_tracing


def create_app(settings: SignalWorkerSettings) -> Starlette:
    return create_worker_app(settings, SIGNAL_CONSUMER, EFFECTS)


def run() -> None:
    settings = settings_or_exit(SignalWorkerSettings)
    configure_logging("signal_worker", settings.log_level)
    start_tracing("signal_worker")
    uvicorn.run(create_app(settings), host=settings.host, port=settings.signal_worker_port, log_config=None)
