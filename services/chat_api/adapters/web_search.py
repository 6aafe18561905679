"""A SearXNG-compatible search engine. Only its result list is fetched: no page behind it, and no redirect."""

import html
import unicodedata
from datetime import timedelta
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

import httpx
import msgspec
import nh3

from services.chat_api.adapters.source_faults import SourceUnavailableError

_MOST_BYTES = 1_000_000
_TITLE_CHARS = 300
_TEXT_CHARS = 2_000
_URL_CHARS = 2_000


class WebUnavailableError(SourceUnavailableError):
    code = "web_unavailable"
    title = "The web search cannot be reached"


class WebResult(msgspec.Struct, frozen=True):
    """Plain text only; `url` is http or https."""

    url: str
    title: str
    text: str


class _Row(msgspec.Struct):
    url: str = ""
    title: str | None = ""
    content: str | None = ""


class _Answer(msgspec.Struct):
    results: list[_Row]


_decode = msgspec.json.Decoder(_Answer, strict=False).decode


class WebSearchClient:
    """`base_url` ends before `/search`. What is sent is the query and nothing else: no cookie, no referrer, no name."""

    def __init__(self, base_url: str, *, timeout: timedelta) -> None:
        self._url = f"{base_url.rstrip('/')}/search"
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout.total_seconds(), connect=min(3.0, timeout.total_seconds())),
            headers={"accept": "application/json", "user-agent": "achilles"},
            # No cookie that the engine sets may tie one person's queries to another's.
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            limits=httpx.Limits(max_connections=50, max_keepalive_connections=10),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def search(self, query: str, *, at_most: int) -> tuple[WebResult, ...]:
        """The first results in the engine's order, without duplicates. Raises WebUnavailableError."""
        try:
            body = await self._fetch(query)
        except httpx.TimeoutException as fault:
            raise WebUnavailableError("timeout") from fault
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise WebUnavailableError("unreachable") from fault
        return _results(body, at_most)

    async def _fetch(self, query: str) -> bytes:
        body = bytearray()
        async with self._client.stream("GET", self._url, params={"q": query, "format": "json"}) as response:
            if response.status_code != httpx.codes.OK:
                raise WebUnavailableError(f"status_{response.status_code}")
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    raise WebUnavailableError("too_large")
        return bytes(body)


def _results(body: bytes, at_most: int) -> tuple[WebResult, ...]:
    try:
        rows = _decode(body).results
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise WebUnavailableError("unreadable") from fault
    found: dict[str, WebResult] = {}
    for row in rows:
        text = _plain(row.content or "", _TEXT_CHARS)
        if text and _is_web_address(row.url):
            found.setdefault(row.url, WebResult(row.url, _plain(row.title or "", _TITLE_CHARS) or row.url, text))
        if len(found) == at_most:
            break
    return tuple(found.values())


def _is_web_address(url: str) -> bool:
    """Only what a browser opens as a page, without a user name that could pose as a host."""
    if len(url) > _URL_CHARS or any(unicodedata.category(char) in ("Cc", "Cf", "Zs") for char in url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


def _plain(text: str, most: int) -> str:
    """Without markup, and without control and invisible format characters that could hide an instruction."""
    # Twice: an engine may hand out escaped markup, which the first unescaping would set free.
    for _ in range(2):
        text = html.unescape(nh3.clean(text[: 4 * most], tags=set()))
    visible = "".join(char if unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs") else " " for char in text)
    return " ".join(visible.split())[:most]
