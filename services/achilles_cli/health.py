"""Ask a service over HTTP whether it is ready."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from shared.embedded.errors import ProbeFailedError

_TIMEOUT_SECONDS = 3.0
_MAX_BYTES = 64 * 1024
_MAX_REASON = 300


class _Readiness(BaseModel):
    """What `/readyz` answers: the name of each check with `ok` or the reason."""

    checks: dict[str, str]


async def check_ready(base_url: str) -> None:
    """`GET /readyz` answers 200. Raises ProbeFailedError with what the service says is missing."""
    status, body = await _get(f"{base_url.rstrip('/')}/readyz")
    if status != 200:
        raise ProbeFailedError(f"not ready (HTTP {status}){_reason(body)}")


async def check_knowledge_store(base_url: str, token: str | None) -> None:
    """Any store that speaks the contract: `GET /v1/status` answers 200. Raises ProbeFailedError."""
    status, _ = await _get(f"{base_url.rstrip('/')}/v1/status", token)
    if status in (401, 403):
        raise ProbeFailedError(f"refuses ACHILLES_KNOWLEDGE_TOKEN (HTTP {status})")
    if status != 200:
        raise ProbeFailedError(f"HTTP {status}")


def _reason(body: str) -> str:
    try:
        checks = _Readiness.model_validate_json(body).checks
    except ValidationError:
        return ""
    return ": " + ", ".join(f"{name} {state}" for name, state in checks.items() if state != "ok")[:_MAX_REASON]


async def _get(url: str, token: str | None = None) -> tuple[int, str]:
    # By hand, because a client library would cost each start more time than the whole check.
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    login = f"Authorization: Bearer {token}\r\n" if token else ""
    request = f"GET {parts.path} HTTP/1.0\r\nHost: {parts.netloc}\r\nAccept: application/json\r\n{login}\r\n"
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            answer = await _exchange(parts.hostname or "", port, parts.scheme == "https", request)
    except ConnectionRefusedError:
        raise ProbeFailedError("connection refused") from None
    except TimeoutError:
        raise ProbeFailedError("no answer") from None
    except OSError as fault:
        raise ProbeFailedError(type(fault).__name__) from None
    head, _, body = answer.partition("\r\n\r\n")
    words = head.split(" ", 2)
    if len(words) < 2 or not words[1].isdigit():
        raise ProbeFailedError("the answer is not HTTP")
    return int(words[1]), body


async def _exchange(host: str, port: int, is_tls: bool, request: str) -> str:
    reader, writer = await asyncio.open_connection(host, port, ssl=is_tls)
    try:
        writer.write(request.encode())
        await writer.drain()
        received = b""
        while len(received) < _MAX_BYTES and (piece := await reader.read(_MAX_BYTES)):
            received += piece
        return received.decode("utf-8", errors="replace")
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
