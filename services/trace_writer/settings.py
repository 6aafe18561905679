"""Settings of the trace writer."""

from pydantic import Field

from shared.settings import WorkerSettings


class TraceWriterSettings(WorkerSettings):
    trace_writer_port: int = Field(default=8030, title="Port of the health endpoints")
