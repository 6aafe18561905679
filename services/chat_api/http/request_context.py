"""One pure ASGI middleware: request ids, security headers, body limit, and no writes from other sites."""

import contextlib
import re
from collections.abc import Iterable
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_REQUEST_ID = re.compile(r"^[A-Za-z0-9._:-]{1,128}$")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = {
    "content-security-policy": _CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class BodyOverLimit(Exception):  # noqa: N818 (control flow within this file)
    """More bytes came than are allowed."""


def request_id_of(connection: HTTPConnection) -> str:
    found: str = connection.scope.get("achilles_request_id", "")
    return found


def add_response_header(connection: HTTPConnection, name: str, value: str) -> None:
    """Sent with whatever response comes, also one that the route builds by itself."""
    connection.scope["achilles_response_headers"].append((name, value))


class RequestContext:
    def __init__(self, app: ASGIApp, *, refuse: "Refusals", body_limit: int, host_names: frozenset[str]) -> None:
        self._app = app
        self._refuse = refuse
        self._body_limit = body_limit
        self._host_names = host_names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope["achilles_request_id"] = _request_id(headers)
        scope["achilles_response_headers"] = []
        send = _with_headers(send, scope["achilles_request_id"], scope["achilles_response_headers"])
        await self._checked(headers, scope, receive, send)

    async def _checked(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        if _host_name(headers) not in self._host_names:
            await self._refuse.wrong_host(scope, receive, send)
        elif scope["method"] not in _SAFE_METHODS and _is_cross_site(headers):
            await self._refuse.cross_site(scope, receive, send)
        elif _announced_length(headers) > self._body_limit:
            await self._refuse.too_large(scope, receive, send)
        else:
            await self._limited(scope, receive, send)

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whatever the application makes of a body that was cut off, the answer is ours."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._body_limit:
                raise BodyOverLimit
            return message

        async def send_within_limit(message: Message) -> None:
            if seen <= self._body_limit:
                await send(message)

        with contextlib.suppress(BodyOverLimit):
            await self._app(scope, counted, send_within_limit)
        if seen > self._body_limit:
            await self._refuse.too_large(scope, receive, send)


class Refusals:
    """The answers that this middleware gives by itself."""

    def __init__(self, wrong_host: ASGIApp, cross_site: ASGIApp, too_large: ASGIApp) -> None:
        self.wrong_host = wrong_host
        self.cross_site = cross_site
        self.too_large = too_large


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.match(given) else str(uuid4())


def _host_name(headers: Headers) -> str:
    host = headers.get("host", "").lower()
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


def _announced_length(headers: Headers) -> int:
    value = headers.get("content-length", "0")
    return int(value) if value.isdigit() else 0


def _is_cross_site(headers: Headers) -> bool:
    """Browsers tell where a request comes from; other clients send neither header and carry no cookies."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def _with_headers(send: Send, request_id: str, added: list[tuple[str, str]]) -> Send:
    extra: Iterable[tuple[str, str]] = [*_SECURITY_HEADERS.items(), ("x-request-id", request_id)]

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in extra:
                headers.setdefault(name, value)
            for name, value in added:
                headers.append(name, value)
        await send(message)

    return send_with_headers
