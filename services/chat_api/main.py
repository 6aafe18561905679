"""The front's process."""

import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE

from services.chat_api.domain.judge import Judge
from services.chat_api.domain.model_call import ModelClient
from services.chat_api.http.app import create_http_app
from services.chat_api.http.front import Front
from services.chat_api.settings import ChatApiSettings
from services.chat_api.wiring import make_resources, open_front, readiness_checks
from shared.health import health_routes
from shared.metrics import metrics_route
from shared.settings import settings_or_exit
from shared.telemetry import configure_logging
from shared.trace_export import flush_spans, start_tracing

_GRACEFUL_SECONDS = 15


def create_app(settings: ChatApiSettings, *, model: ModelClient | None = None, judge: Judge | None = None) -> FastAPI:
    """`model` and `judge` replace the configured ones; tests script what they say."""
    resources = make_resources(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_front(settings, resources, model=model, judge=judge) as front:
            app.state.front = front
            yield
        await flush_spans()

    operations = [
        *health_routes(readiness_checks(resources)),
        metrics_route(
            resources.metrics.registry,
            token=settings.metrics_token.get_secret_value(),
            refresh=resources.loop_metrics.refresh,
        ),
    ]
    return create_http_app(lifespan, operations, body_limit=settings.body_limit, host_names=settings.host_names)


def run() -> None:
    settings = settings_or_exit(ChatApiSettings)
    configure_logging("chat_api", settings.log_level)
    start_tracing("chat_api")
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        # Who the peer is decides whether its identity headers count, so no header may rewrite its address.
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACEFUL_SECONDS,
    )
    server = _Server(config)
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        raise SystemExit(STARTUP_FAILURE)


class _Server(uvicorn.Server):
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Open answers are ended first: their connections are waited for before the lifespan is."""
        front: Front = self.config.app.state.front  # type: ignore[union-attr]
        front.running_turns.stop_all()
        await super().shutdown(sockets)
