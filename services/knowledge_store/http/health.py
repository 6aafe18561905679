"""`/livez` and `/readyz`."""

from fastapi import FastAPI

from services.knowledge_store.http.services import Services
from shared.health import health_routes


def add_health_routes(app: FastAPI) -> None:
    async def check_database() -> None:
        services: Services = app.state.services
        await services.checks["database"]()

    app.router.routes.extend(health_routes({"database": check_database}))
