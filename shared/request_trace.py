"""Each request goes on with its caller's trace, or begins one; where spans are recorded it is one."""

from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.trace_context import trace_of
from shared.tracing import NoSpan, current_recorder, span

# Asked every few seconds by machines; they would drown everything else.
_UNRECORDED = ("/livez", "/readyz", "/metrics", "/static/")
_SERVER_FAULT = 500


class RequestTrace:
    """A pure ASGI middleware, to be the outermost one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with trace_of(Headers(scope=scope)):
            if current_recorder() is None or scope["path"].startswith(_UNRECORDED):
                await self._app(scope, receive, send)
                return
            method = scope["method"]
            with span(method, {"http.request.method": method}, SpanKind.SERVER) as opened:
                try:
                    await self._app(scope, receive, _noting_status(opened, send))
                finally:
                    _note_route(opened, scope)


def _noting_status(opened: NoSpan, send: Send) -> Send:
    async def noting(message: Message) -> None:
        if message["type"] == "http.response.start":
            status = message["status"]
            opened.note({"http.response.status_code": status})
            if status >= _SERVER_FAULT:
                opened.failed(str(status))
        await send(message)

    return noting


def _note_route(opened: NoSpan, scope: Scope) -> None:
    """The route's pattern is known after the request only. The path itself may name what somebody wrote."""
    route = getattr(scope.get("route"), "path", None)
    if route:
        opened.name(f"{scope['method']} {route}")
        opened.note({"http.route": route})
