"""The signal worker's process."""

from functools import partial

import uvicorn
from starlette.applications import Starlette

from services.signal_worker.settings import SignalWorkerSettings
from services.signal_worker.wiring import EFFECTS, SIGNAL_CONSUMER
from shared.messaging.worker import create_worker_app
from shared.settings import settings_or_exit
from shared.telemetry import configure_logging
from shared.trace_export import start_tracing
from shared.usage.time_zone import claim_time_zone


def create_app(settings: SignalWorkerSettings) -> Starlette:
    first = partial(claim_time_zone, wanted=settings.business_time_zone)
    return create_worker_app(settings, SIGNAL_CONSUMER, EFFECTS, first=first)


def run() -> None:
    settings = settings_or_exit(SignalWorkerSettings)
    configure_logging("signal_worker", settings.log_level)
    start_tracing("signal_worker")
    uvicorn.run(create_app(settings), host=settings.host, port=settings.signal_worker_port, log_config=None)
