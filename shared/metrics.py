"""`GET /metrics` in the Prometheus text format: figures, never content."""

import secrets

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


def metrics_route(registry: CollectorRegistry, *, token: str = "") -> Route:
    """With a token, only who sends it as a bearer token may read; without one, whoever reaches the port."""

    async def metrics(request: Request) -> Response:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token and not secrets.compare_digest(given.encode(), token.encode()):
            return PlainTextResponse(
                "Send the metrics token as a bearer token.\n", status_code=401, headers={"www-authenticate": "Bearer"}
            )
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", metrics)
