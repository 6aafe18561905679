"""What signal_worker and trace_writer have in common: one consumer, one engine, health endpoints."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.applications import Starlette

from shared.background import running
from shared.database.engine import make_engine
from shared.database.metrics import watch_database
from shared.events import Event
from shared.health import database_check, health_routes
from shared.messaging.consumer import ConsumerSpec, DurableConsumer
from shared.messaging.consumer_metrics import ConsumerMetrics
from shared.messaging.delivery import DeliveryService, Effect
from shared.metrics import make_registry, metrics_route
from shared.settings import WorkerSettings
from shared.trace_export import flush_spans

logger = logging.getLogger(__name__)
_LOOK_AGAIN_SECONDS = 1.0

First = Callable[[AsyncEngine], Awaitable[None]]


def create_worker_app(
    settings: WorkerSettings, spec: ConsumerSpec, effects: Mapping[type[Event], Effect], *, first: First | None = None
) -> Starlette:
    """An ASGI app that consumes while it lives and answers `/livez`, `/readyz` and `/metrics`. `first` comes before any
    event."""
    engine = make_engine(settings.dsn, application_name=f"achilles-{spec.durable}", pool_size=4)
    registry = make_registry(spec.durable)
    watch_database(engine, registry)
    service = DeliveryService(engine, spec.durable, effects)
    consumer = DurableConsumer(spec, service, settings, ConsumerMetrics(spec.durable, registry))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            async with running(_consume(consumer, engine, first), name=spec.durable):
                yield
        finally:
            await engine.dispose()
            await flush_spans()

    checks = {"database": database_check(engine), "consumer": consumer.check}
    metrics = metrics_route(registry, token=settings.metrics_token.get_secret_value())
    return Starlette(routes=[*health_routes(checks), metrics], lifespan=lifespan)


async def _consume(consumer: DurableConsumer, engine: AsyncEngine, first: First | None) -> None:
    while first:
        try:
            await first(engine)
            break
        except (OSError, SQLAlchemyError) as fault:
            logger.warning("start_waits_for_database", extra={"error": type(fault).__name__})
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    await consumer.run()
