"""The front's API as the commands use it."""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urljoin
from uuid import UUID, uuid4

import httpx
from pydantic import BaseModel, Field

from services.achilles_cli.errors import CommandError, FailedError, NothingRunningError, UsageError

_SILENCE_SECONDS = 180.0


class CitedSource(BaseModel):
    n: int
    record_id: str
    title: str
    url: str
    source_system: str


class HintBody(BaseModel):
    text: str
    withheld: list[dict[str, str]] = Field(default_factory=list)


class ChatAnswer(BaseModel):
    """One finished answer. A stream that ended without a closing event stays `interrupted`."""

    outcome: str = "interrupted"
    text: str = ""
    citations: list[CitedSource] = Field(default_factory=list)
    hint: HintBody | None = None
    conversation_id: str | None = None
    message_id: str | None = None
    model: str | None = None
    tokens_used: int | None = None
    error: str | None = Field(default=None, exclude=True)

    def as_json(self) -> str:
        return json.dumps(self.model_dump(), ensure_ascii=False)


class Listener(Protocol):
    """Hears of a stream while it arrives."""

    def stage(self, name: str) -> None: ...

    def notice(self, text: str) -> None: ...

    def text(self, delta: str) -> None: ...


class FrontClient:
    """With `token` every request is made with it, and nobody signs in."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url
        self._has_token = bool(token)
        timeout = httpx.Timeout(10, read=_SILENCE_SECONDS)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.AsyncClient(base_url=url, timeout=timeout, headers=headers, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def sign_in(self, user: str | None) -> None:
        """Raises NothingRunningError, or UsageError for a person that the demo does not know."""
        if self._has_token:
            return
        try:
            people = await self._send("GET", "/api/v1/session/people?order=asc&limit=100")
        except UsageError as fault:
            raise UsageError(f"{fault} Set ACHILLES_TOKEN to a bearer token of your organisation's login.") from None
        known = [str(person["user_id"]) for person in people["data"]]
        if not known:
            raise UsageError("this front has no demo people to ask as")
        chosen = user or known[0]
        if chosen not in known:
            raise UsageError(f"there is no demo person {chosen!r}; known: {', '.join(known)}")
        await self._send("POST", "/api/v1/session", {"user_id": chosen})

    async def sign_out(self) -> None:
        if self._has_token:
            return
        try:
            await self._client.delete("/api/v1/session")
        except httpx.HTTPError:
            return

    async def ask(self, message: str, conversation_id: str | None, listener: Listener) -> ChatAnswer:
        """Raises CommandError for a question that was refused before the answer began."""
        answer = ChatAnswer()
        body = {"message": message, "conversation_id": conversation_id, "client_message_id": str(uuid4())}
        try:
            async with self._client.stream("POST", "/api/v1/chat", json=body) as response:
                if response.is_error:
                    raise _refused(response.status_code, await response.aread())
                async for part in _parts(response):
                    self._take(answer, part, listener)
        except httpx.TransportError as fault:
            answer.error = f"the connection to {self._url} broke off ({type(fault).__name__})"
        return answer

    async def create_key(self, name: str, scopes: list[str], expires_at: datetime | None) -> dict[str, Any]:
        """The new key with its `secret`."""
        until = expires_at.isoformat() if expires_at else None
        return await self._send("POST", "/api/v1/api-keys", {"name": name, "scopes": scopes, "expires_at": until})

    async def list_keys(self) -> list[dict[str, Any]]:
        """One's own, newest first."""
        found: list[dict[str, Any]] = (await self._send("GET", "/api/v1/api-keys?limit=100"))["data"]
        return found

    async def revoke_key(self, key_id: UUID) -> None:
        await self._send("DELETE", f"/api/v1/api-keys/{key_id}")

    async def read_usage(self, question: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
        """Every row that answers the question, which is pairs of names and values."""
        rows: list[dict[str, Any]] = []
        after: list[tuple[str, str]] = []
        while True:
            asked = httpx.QueryParams([*question, ("limit", "100"), *after])
            page = await self._send("GET", f"/api/v1/usage?{asked}")
            rows += page["data"]
            if not page["has_more"]:
                return rows
            after = [("after", page["last_id"])]

    async def read_usage_file(self, question: Sequence[tuple[str, str]]) -> AsyncIterator[bytes]:
        """Raises CommandError, also for a file that breaks off in the middle."""
        try:
            async with self._client.stream(
                "GET", "/api/v1/usage/export", params=httpx.QueryParams([*question])
            ) as response:
                if response.is_error:
                    raise _refused(response.status_code, await response.aread())
                async for piece in response.aiter_bytes():
                    yield piece
        except httpx.TransportError as fault:
            raise FailedError(f"the file from {self._url} broke off ({type(fault).__name__})") from None

    def _take(self, answer: ChatAnswer, part: dict[str, Any], listener: Listener) -> None:
        match part["type"]:
            case "start":
                answer.message_id = part["messageId"]
                answer.conversation_id = part["messageMetadata"]["conversation_id"]
                answer.model = part["messageMetadata"]["model"]
            case "data-status":
                listener.stage(part["data"]["stage"])
            case "data-notice":
                listener.notice(part["data"]["text"])
            case "text-delta":
                answer.text += part["delta"]
                listener.text(part["delta"])
            case "data-citation":
                source = CitedSource.model_validate(part["data"])
                answer.citations.append(source.model_copy(update={"url": urljoin(self._url, source.url)}))
            case "data-hint":
                answer.hint = HintBody.model_validate(part["data"])
            case "message-metadata":
                metadata = part["messageMetadata"]
                answer.outcome = metadata["outcome"]
                answer.model = metadata["model"]
                answer.tokens_used = metadata["tokens_used"]
            case "error":
                answer.outcome = "failed"
                answer.error = part["errorText"]

    async def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            response = await self._client.request(method, path, json=body)
        except httpx.TransportError as fault:
            raise NothingRunningError(
                f"no Achilles answers at {self._url} ({type(fault).__name__}): run `achilles up`, or give --url"
            ) from None
        if response.is_error:
            raise _refused(response.status_code, response.content)
        found: dict[str, Any] = response.json() if response.content else {}
        return found


async def _parts(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        data = line.removeprefix("data:").strip()
        if line.startswith("data:") and data != "[DONE]":
            yield json.loads(data)


def _refused(status: int, content: bytes) -> CommandError:
    try:
        problem = json.loads(content)
        title, detail = str(problem["title"]), str(problem["detail"])
        text = title if title == detail else f"{title}. {detail}"
    except (ValueError, KeyError, TypeError):
        text = f"the front answered {status}"
    return UsageError(text) if 400 <= status < 500 else FailedError(text)
