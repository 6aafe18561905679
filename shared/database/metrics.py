"""What goes wrong between a process and PostgreSQL, as figures."""

from prometheus_client import CollectorRegistry, Counter, Gauge
from sqlalchemy import event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool


def watch_database(engine: AsyncEngine, registry: CollectorRegistry) -> None:
    """Count the engine's errors by class and the connections given up, and show how many are in use."""
    errors = Counter(
        "achilles_database_errors", "Statements and connections that failed, by class", ["error"], registry=registry
    )
    lost = Counter(
        "achilles_database_connections_lost", "Connections given up because the server was gone", registry=registry
    )
    in_use = Gauge("achilles_database_connections_in_use", "Connections in use now", registry=registry)
    pool = engine.sync_engine.pool

    def on_error(fault: ExceptionContext) -> None:
        errors.labels(type(fault.original_exception).__name__).inc()

    def on_invalidated(*_about: object) -> None:
        lost.inc()

    event.listen(engine.sync_engine, "handle_error", on_error)
    event.listen(pool, "invalidate", on_invalidated)
    if isinstance(pool, QueuePool):
        in_use.set_function(pool.checkedout)
