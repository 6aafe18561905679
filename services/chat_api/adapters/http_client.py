"""What the clients of store and model have in common over aiohttp."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

Answer = TypeVar("Answer")
_STALE = (aiohttp.ServerDisconnectedError, aiohttp.ClientConnectionResetError)
_STALE_AT_MOST = 3


async def on_a_living_connection(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Asks again where the other side closed an idle connection just when it was used: nothing was answered then.
    Several may have been closed together."""
    for _ in range(_STALE_AT_MOST):
        with contextlib.suppress(*_STALE):
            return await ask()
    return await ask()


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names, looked up once: aiohttp does it anew, in a thread, for each request."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
