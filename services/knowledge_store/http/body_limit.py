"""Requests of this service are short; a long body is refused before it is read."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.knowledge_store.domain.errors import RequestTooLargeError
from services.knowledge_store.http.problems import problem_response

# A query of 4,000 characters and an identity in many groups.
MAX_BODY_BYTES = 256 * 1024


class BodyLimit:
    """Counts the bytes that really come; a declared length is only a shortcut to the refusal."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await _read_body(scope, receive)
        if body is None:
            await problem_response(RequestTooLargeError(f"at most {MAX_BODY_BYTES} bytes"))(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)


async def _read_body(scope: Scope, receive: Receive) -> bytes | None:
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        return None
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return body
        part: bytes = message.get("body", b"")
        body += part
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return pending.pop() if pending else await receive()

    return next_message
