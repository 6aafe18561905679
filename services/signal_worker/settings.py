"""Settings of the signal worker."""

from pydantic import Field

from shared.settings import WorkerSettings


class SignalWorkerSettings(WorkerSettings):
    signal_worker_port: int = Field(default=8020, title="Port of the health endpoints")
