"""The Knowledge Store over HTTP. A fault is a fault: it never comes back as an empty result."""

import json
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from services.chat_api.adapters.http_client import HttpClient
from services.chat_api.adapters.source_faults import SourceUnavailableError
from shared.errors import ClientError
from shared.identity import Identity
from shared.knowledge_contract import SearchRequest, SearchResponse, StoreStatus
from shared.trace_context import trace_headers

MAX_RECORD_ID = 2_000
_CONNECT_SECONDS = 2.0
_MOST_CONNECTIONS = 200
Model = TypeVar("Model", bound=BaseModel)


class KnowledgeUnavailableError(SourceUnavailableError):
    code = "knowledge_unavailable"
    title = "The company knowledge cannot be reached"


class SourceNotFoundError(ClientError):
    """Unknown to the store, or not readable by this person: the two are told apart by nobody."""

    code = "source_not_found"
    title = "There is no such source"
    status = 404


class SourceDocument(BaseModel):
    """A whole record, as the embedded store hands it out for reading."""

    record_id: str
    title: str
    text: str
    media_type: str
    source_system: str


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes


class KnowledgeClient:
    """Over aiohttp: a search through httpx costs the front a third of a bare relay."""

    def __init__(self, base_url: str, token: str, *, timeout: timedelta, status_timeout: timedelta) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {"content-type": "application/json"}
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        connect = min(_CONNECT_SECONDS, timeout.total_seconds())
        self._timeout = aiohttp.ClientTimeout(total=timeout.total_seconds(), sock_connect=connect)
        self._status_timeout = aiohttp.ClientTimeout(total=status_timeout.total_seconds())
        self._client: HttpClient | None = None

    async def close(self) -> None:
        if self._client:
            await self._client.close()

    async def search(self, query: str, identity: Identity | None, *, top_k: int) -> SearchResponse:
        """Raises KnowledgeUnavailableError; an absent identity stays absent."""
        request = SearchRequest(query=query, top_k=top_k, identity=identity)
        body = request.model_dump_json(exclude_none=True).encode()
        return _read(SearchResponse, await self._send("POST", "/v1/search", body))

    async def status(self) -> StoreStatus:
        """Raises KnowledgeUnavailableError, and soon: a slow status must not use up the time of a search."""
        return _read(StoreStatus, await self._send("GET", "/v1/status", limits=self._status_timeout))

    async def read_record(self, record_id: str, identity: Identity | None) -> SourceDocument:
        """Raises SourceNotFoundError or KnowledgeUnavailableError."""
        if not 0 < len(record_id) <= MAX_RECORD_ID or "\x00" in record_id:
            raise SourceNotFoundError
        body: dict[str, object] = {"record_id": record_id}
        if identity is not None:
            body["identity"] = identity.model_dump(mode="json")
        answer = await self._send("POST", "/v1/record", json.dumps(body).encode(), accept_missing=True)
        if answer.status == HTTPStatus.NOT_FOUND:
            raise SourceNotFoundError
        return _read(SourceDocument, answer)

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        accept_missing: bool = False,
        limits: aiohttp.ClientTimeout | None = None,
    ) -> _Answer:
        try:
            answer = await self._ask(method, f"{self._base_url}{path}", body, limits or self._timeout)
        except TimeoutError as fault:
            raise KnowledgeUnavailableError("timeout") from fault
        except aiohttp.ClientError as fault:
            raise KnowledgeUnavailableError("unreachable") from fault
        if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise KnowledgeUnavailableError("refused")
        missing = accept_missing and answer.status == HTTPStatus.NOT_FOUND
        if answer.status != HTTPStatus.OK and not missing:
            raise KnowledgeUnavailableError(f"status_{answer.status}")
        return answer

    async def _ask(self, method: str, url: str, body: bytes | None, limits: aiohttp.ClientTimeout) -> _Answer:
        headers = {**self._headers, **trace_headers()}
        response = await self._open().request(
            method, url, data=body, headers=headers, timeout=limits, allow_redirects=False
        )
        async with response:
            return _Answer(response.status, await response.read())

    def _open(self) -> HttpClient:
        """Opened by the first call: it belongs to the loop that it is used in."""
        if self._client is None:
            self._client = HttpClient(self._base_url, limit=_MOST_CONNECTIONS)
        return self._client


def _read(model: type[Model], answer: _Answer) -> Model:
    try:
        return model.model_validate_json(answer.body)
    except ValidationError as fault:
        raise KnowledgeUnavailableError("unreadable") from fault
