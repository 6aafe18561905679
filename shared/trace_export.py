"""Where spans go: to a collector, over OTLP (http/protobuf), if the standard `OTEL_*` variables name one."""

import asyncio
import logging
import os
import threading
from collections.abc import Mapping
from importlib.metadata import version
from uuid import uuid4

from shared.tracing import Recorder, current_recorder, record_with

logger = logging.getLogger(__name__)
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPEAKS = "http/protobuf"
_FLUSH_SECONDS = 2.0


def start_tracing(service: str, environment: Mapping[str, str] = os.environ) -> None:
    """Record spans from now on, if a collector is configured. Call it before the loop starts."""
    if not _is_wanted(environment):
        return
    protocol = next((environment[name] for name in _PROTOCOLS if environment.get(name)), _SPEAKS)
    if protocol != _SPEAKS:
        logger.warning("tracing_off", extra={"reason": "protocol", "supported": _SPEAKS})
        return
    try:
        recorder = _make_recorder(service, environment)
    except Exception as fault:  # noqa: BLE001 (a wrong variable of a monitor must not stop the service)
        logger.error("tracing_off", extra={"reason": "configuration", "error": type(fault).__name__})
        return
    record_with(recorder)
    logger.info("tracing_on")


async def flush_spans() -> None:
    """Send what is recorded and not yet sent. A collector that does not answer costs two seconds at most."""
    recorder = current_recorder()
    if recorder is None:
        return
    loop, flushed = asyncio.get_running_loop(), asyncio.Event()
    # Not in the loop's executor: the loop would wait for a thread there, however long it takes.
    threading.Thread(target=_flush, args=(recorder, loop, flushed), daemon=True, name="flush-spans").start()
    try:
        async with asyncio.timeout(_FLUSH_SECONDS):
            await flushed.wait()
    except TimeoutError:
        logger.warning("spans_not_flushed")


def _flush(recorder: Recorder, loop: asyncio.AbstractEventLoop, flushed: asyncio.Event) -> None:
    recorder.flush()
    # The loop may have stopped waiting, and be closed.
    if not loop.is_closed():
        loop.call_soon_threadsafe(flushed.set)


def _is_wanted(environment: Mapping[str, str]) -> bool:
    off = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exporter = environment.get("OTEL_TRACES_EXPORTER", "otlp").strip()
    return not off and exporter == "otlp" and any(environment.get(name) for name in _ENDPOINTS)


def _make_recorder(service: str, environment: Mapping[str, str]) -> Recorder:
    # Imported only here: where tracing is off, the SDK costs neither memory nor time to start.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    release = version("achilles-query-engine")
    attributes = {"service.namespace": "achilles", "service.version": release, "service.instance.id": str(uuid4())}
    if not environment.get("OTEL_SERVICE_NAME"):
        attributes["service.name"] = service
    # Its own end at exit waits for the collector for as long as an export may take.
    provider = TracerProvider(resource=Resource.create(attributes), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Recorder(provider.get_tracer("achilles", release), provider.force_flush)
