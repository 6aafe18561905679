"""`GET /metrics` in the Prometheus text format: figures, never content and never a person."""

import secrets
from collections.abc import Awaitable, Callable
from importlib.metadata import version

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, ProcessCollector, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

Refresh = Callable[[], Awaitable[None]]


def make_registry(service: str) -> CollectorRegistry:
    """With what every process shows of itself: its version, memory, processor time and open files."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    build = Gauge(
        "achilles_build_info", "Always 1; the labels say what runs", ["service", "version"], registry=registry
    )
    build.labels(service, version("achilles-query-engine")).set(1)
    return registry


def metrics_route(registry: CollectorRegistry, *, token: str = "", refresh: Refresh | None = None) -> Route:
    """With a token, only who sends it as a bearer token may read; without one, whoever reaches the port. `refresh` is
    awaited first, for figures that are read when they are asked for; it raises nothing and takes a bounded time."""

    async def metrics(request: Request) -> Response:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token and not secrets.compare_digest(given.encode(), token.encode()):
            return PlainTextResponse(
                "Send the metrics token as a bearer token.\n", status_code=401, headers={"www-authenticate": "Bearer"}
            )
        if refresh:
            await refresh()
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", metrics)
