"""The HTTP application of the embedded Knowledge Store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.http.body_limit import BodyLimit
from services.knowledge_store.http.health import add_health_routes
from services.knowledge_store.http.problems import add_problem_handlers
from services.knowledge_store.http.routes import make_router
from services.knowledge_store.settings import KnowledgeStoreSettings
from services.knowledge_store.wiring import open_services
from shared.metrics import make_registry, metrics_route
from shared.request_trace import RequestTrace
from shared.trace_export import flush_spans


def create_app(settings: KnowledgeStoreSettings, embedder: Embedder | None = None) -> FastAPI:
    """The application; nothing is opened before its lifespan starts. `embedder` replaces the embedded model."""

    registry = make_registry("knowledge_store")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_services(settings, embedder, registry) as services:
            app.state.services = services
            yield
        await flush_spans()

    app = FastAPI(title="Achilles Knowledge Store", version="1", lifespan=lifespan)
    app.add_middleware(BodyLimit)
    app.add_middleware(RequestTrace)
    add_problem_handlers(app)
    add_health_routes(app)
    app.router.routes.append(metrics_route(registry, token=settings.metrics_token.get_secret_value()))
    app.include_router(make_router(settings.knowledge_token))
    return app
