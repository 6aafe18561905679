"""Any OpenAI-compatible endpoint, over aiohttp with typed decoding (docs/spec/turn-cost.md says why not an SDK)."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from urllib.parse import urlsplit

import aiohttp
import msgspec

from services.chat_api.adapters.http_client import HttpClient
from services.chat_api.adapters.model_faults import (
    ModelBusyError,
    ModelRefusedError,
    ModelStreamBrokenError,
    ModelUnavailableError,
)
from services.chat_api.adapters.openai_stream import OpenAiStream
from services.chat_api.adapters.silence import SilenceLimit
from services.chat_api.domain.model_call import ModelChunk, ModelRequest
from shared.trace_context import trace_headers

logger = logging.getLogger(__name__)
UNKNOWN_PROVIDER = "openai_compatible"
_TRANSIENT_STATUS = frozenset({408, 409, 425})
_TOO_MANY_REQUESTS = 429
_LONGEST_PAUSE_SECONDS = 10.0


class OpenAiModel:
    """`base_url` ends before `/chat/completions`, as in `https://host/v1`. `provider` is who is paid, if known."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        connect_timeout: timedelta,
        silence_timeout: timedelta,
        provider: str = UNKNOWN_PROVIDER,
    ) -> None:
        self.provider = provider
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._headers = {"content-type": "application/json"}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout.total_seconds())
        self._silence_seconds = silence_timeout.total_seconds()
        self._client: HttpClient | None = None

    async def open(self) -> None:
        self._client = HttpClient(self._url)

    async def close(self) -> None:
        if self._client:
            await self._client.close()

    @property
    def host(self) -> str:
        return urlsplit(self._url).netloc.rpartition("@")[2]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yields chunks as they arrive. Leaving the iterator closes the connection to the provider."""
        parser = OpenAiStream()
        try:
            async with await self._ask(request) as response:
                _raise_for_status(response.status)
                give_up = partial(response.content.set_exception, TimeoutError())
                with SilenceLimit(self._silence_seconds, give_up) as silence:
                    async for data in response.content.iter_any():
                        silence.pause()
                        for chunk in parser.feed(data):
                            yield chunk
                        if parser.done:
                            return
                        silence.listen()
        except TimeoutError as fault:
            raise ModelUnavailableError("the language model did not answer in time") from fault
        except aiohttp.ClientPayloadError as fault:
            raise ModelStreamBrokenError from fault
        except aiohttp.ClientError as fault:
            raise ModelUnavailableError from fault
        if not parser.finished:
            raise ModelStreamBrokenError

    async def _ask(self, request: ModelRequest) -> aiohttp.ClientResponse:
        """Once more if the provider is over its limit and says that it will not be for long."""
        response = await self._post(request)
        pause = _short_pause(response)
        if pause is None:
            return response
        response.close()
        logger.warning("model_busy_asked_again", extra={"pause_ms": round(pause * 1000)})
        await asyncio.sleep(pause)
        return await self._post(request)

    async def _post(self, request: ModelRequest) -> aiohttp.ClientResponse:
        if self._client is None:
            raise RuntimeError("open() comes first")
        async with asyncio.timeout(self._silence_seconds):
            return await self._client.request(
                "POST",
                self._url,
                data=msgspec.json.encode(_body_of(request)),
                headers={**self._headers, **trace_headers()},
                timeout=self._timeout,
            )


def _short_pause(response: aiohttp.ClientResponse) -> float | None:
    """Seconds. None without a `Retry-After`, or when that is longer than a person who waits should be kept."""
    told = response.headers.get("retry-after")
    if response.status != _TOO_MANY_REQUESTS or told is None:
        return None
    try:
        seconds = float(told) if told.replace(".", "", 1).isdigit() else _seconds_until(told)
    except ValueError:
        return None
    return max(0.0, seconds) if seconds <= _LONGEST_PAUSE_SECONDS else None


def _seconds_until(http_date: str) -> float:
    """Raises ValueError."""
    at = parsedate_to_datetime(http_date)
    return (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()


def _raise_for_status(status: int) -> None:
    if status < 400:
        return
    if status == _TOO_MANY_REQUESTS:
        raise ModelBusyError
    if status >= 500 or status in _TRANSIENT_STATUS:
        raise ModelUnavailableError(f"the language model's endpoint answered {status}")
    raise ModelRefusedError(f"the language model's endpoint refused the call with {status}")


def _body_of(request: ModelRequest) -> dict[str, object]:
    body: dict[str, object] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_output_tokens,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": msgspec.Raw(tool.parameters.encode()),
                },
            }
            for tool in request.tools
        ]
    return body
