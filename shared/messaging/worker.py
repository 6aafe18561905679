"""What signal_worker and trace_writer have in common: one consumer, one engine, health endpoints."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from shared.background import running
from shared.database.engine import make_engine
from shared.events import Event
from shared.health import database_check, health_routes
from shared.messaging.consumer import ConsumerSpec, DurableConsumer
from shared.messaging.delivery import DeliveryService, Effect
from shared.settings import WorkerSettings


def create_worker_app(settings: WorkerSettings, spec: ConsumerSpec, effects: Mapping[type[Event], Effect]) -> Starlette:
    """An ASGI app that consumes while it lives and answers `/livez` and `/readyz`."""
    engine = make_engine(settings.dsn, application_name=f"achilles-{spec.durable}", pool_size=4)
    service = DeliveryService(engine, spec.durable, effects)
    consumer = DurableConsumer(spec, service, settings)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            async with running(consumer.run(), name=spec.durable):
                yield
        finally:
            await engine.dispose()

    checks = {"database": database_check(engine), "consumer": consumer.check}
    return Starlette(routes=health_routes(checks), lifespan=lifespan)
