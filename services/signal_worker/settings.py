"""Settings of the signal worker."""

from pydantic import Field

from shared.settings import WorkerSettings
from shared.usage.time_zone import TimeZoneName


class SignalWorkerSettings(WorkerSettings):
    signal_worker_port: int = Field(default=8020, title="Port of the health endpoints")
    business_time_zone: TimeZoneName = Field(
        default="",
        title="Time zone of business days, such as Europe/Berlin; UTC unless given",
        description="It holds from the first counted call on; `achilles usage recount --time-zone` changes it later.",
    )
