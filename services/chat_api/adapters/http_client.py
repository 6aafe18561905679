"""What the clients of store and model have in common over aiohttp."""

import contextlib
from functools import partial
from typing import TypedDict, Unpack
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

_STALE = (aiohttp.ServerDisconnectedError, aiohttp.ClientConnectionResetError)
# Less than the five seconds for which uvicorn, Node and others keep an idle connection.
_KEEPALIVE_SECONDS = 4.0


class RequestOptions(TypedDict, total=False):
    """Of `aiohttp.ClientSession.request`."""

    data: bytes | None
    headers: dict[str, str]
    timeout: aiohttp.ClientTimeout
    allow_redirects: bool


class HttpClient:
    """Keeps its connections, at most `limit` (0: any number). A request whose kept connection was closed by the other
    side just when it was used is sent once more on a connection of its own: nothing was answered before."""

    def __init__(self, base_url: str, *, limit: int = 0) -> None:
        """Belongs to the running loop. `base_url` decides which proxy of the environment is used, if any."""
        open_session = partial(aiohttp.ClientSession, proxy=_proxy_for(base_url))
        self._kept = open_session(connector=aiohttp.TCPConnector(limit=limit, keepalive_timeout=_KEEPALIVE_SECONDS))
        self._fresh = open_session(connector=aiohttp.TCPConnector(limit=limit, force_close=True))

    async def request(self, method: str, url: str, **options: Unpack[RequestOptions]) -> aiohttp.ClientResponse:
        """Raises aiohttp.ClientError or TimeoutError. Closing the response is left to the caller."""
        with contextlib.suppress(*_STALE):
            return await self._kept.request(method, url, **options)
        return await self._fresh.request(method, url, **options)

    async def close(self) -> None:
        await self._kept.close()
        await self._fresh.close()


def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names, looked up once: aiohttp does it anew, in a thread, for each request."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
