"""The Knowledge Store over HTTP. A fault is a fault: it never comes back as an empty result."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from services.chat_api.adapters.source_faults import SourceUnavailableError
from shared.errors import ClientError
from shared.identity import Identity
from shared.knowledge_contract import SearchRequest, SearchResponse, StoreStatus
from shared.trace_context import trace_headers

MAX_RECORD_ID = 2_000
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


class KnowledgeClient:
    def __init__(self, base_url: str, token: str, *, timeout: timedelta, status_timeout: timedelta) -> None:
        self._status_seconds = status_timeout.total_seconds()
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/"),
            headers={"authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(timeout.total_seconds(), connect=min(2.0, timeout.total_seconds())),
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=50),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def search(self, query: str, identity: Identity | None, *, top_k: int) -> SearchResponse:
        """Raises KnowledgeUnavailableError; an absent identity stays absent."""
        request = SearchRequest(query=query, top_k=top_k, identity=identity)
        response = await self._send("POST", "/v1/search", request.model_dump(mode="json", exclude_none=True))
        return _read(SearchResponse, response)

    async def status(self) -> StoreStatus:
        """Raises KnowledgeUnavailableError, and soon: a slow status must not use up the time of a search."""
        return _read(StoreStatus, await self._send("GET", "/v1/status", None, seconds=self._status_seconds))

    async def read_record(self, record_id: str, identity: Identity | None) -> SourceDocument:
        """Raises SourceNotFoundError or KnowledgeUnavailableError."""
        if not 0 < len(record_id) <= MAX_RECORD_ID or "\x00" in record_id:
            raise SourceNotFoundError
        body: dict[str, object] = {"record_id": record_id}
        if identity is not None:
            body["identity"] = identity.model_dump(mode="json")
        response = await self._send("POST", "/v1/record", body, accept_missing=True)
        if response.status_code == httpx.codes.NOT_FOUND:
            raise SourceNotFoundError
        return _read(SourceDocument, response)

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None,
        *,
        accept_missing: bool = False,
        seconds: float | None = None,
    ) -> httpx.Response:
        timeout = httpx.USE_CLIENT_DEFAULT if seconds is None else httpx.Timeout(seconds)
        try:
            response = await self._client.request(method, path, json=body, timeout=timeout, headers=trace_headers())
        except httpx.TimeoutException as fault:
            raise KnowledgeUnavailableError("timeout") from fault
        except httpx.HTTPError as fault:
            raise KnowledgeUnavailableError("unreachable") from fault
        if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise KnowledgeUnavailableError("refused")
        missing = accept_missing and response.status_code == httpx.codes.NOT_FOUND
        if response.status_code != httpx.codes.OK and not missing:
            raise KnowledgeUnavailableError(f"status_{response.status_code}")
        return response


def _read(model: type[Model], response: httpx.Response) -> Model:
    try:
        return model.model_validate_json(response.content)
    except ValidationError as fault:
        raise KnowledgeUnavailableError("unreadable") from fault
