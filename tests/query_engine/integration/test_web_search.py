"""The web search client against an engine on a real socket: what it sends, what it takes, and what it refuses."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from services.chat_api.adapters.web_search import WebSearchClient, WebUnavailableError
from tests.support.web_search_engine import WebSearchEngine

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest_asyncio.fixture
async def web() -> AsyncIterator[WebSearchEngine]:
    async with WebSearchEngine().running() as engine:
        yield engine


@pytest_asyncio.fixture
async def client(web: WebSearchEngine) -> AsyncIterator[WebSearchClient]:
    client = WebSearchClient(web.url, timeout=timedelta(seconds=1))
    yield client
    await client.close()


async def test_results_come_in_the_engines_order_and_no_more_than_asked(
    web: WebSearchEngine, client: WebSearchClient
) -> None:
    web.finds("One.", "Two.", "Three.")
    found = await client.search("anything", at_most=2)
    assert [(one.url, one.title, one.text) for one in found] == [
        ("https://web.example/1", "Web page 1", "One."),
        ("https://web.example/2", "Web page 2", "Two."),
    ]


async def test_nothing_but_the_query_is_sent(web: WebSearchEngine, client: WebSearchClient) -> None:
    await client.search("public fact & more", at_most=5)
    await client.search("second", at_most=5)
    assert web.queries == ["public fact & more", "second"]
    first, second = web.requests
    assert first["query_string"] == "q=public+fact+%26+more&format=json"
    assert set(second) == {"query_string", "host", "accept", "accept-encoding", "connection", "user-agent"}


async def test_a_redirect_is_not_followed(web: WebSearchEngine, client: WebSearchClient) -> None:
    web.redirect_to = f"{web.url}/elsewhere"
    with pytest.raises(WebUnavailableError) as fault:
        await client.search("x", at_most=5)
    assert fault.value.kind == "status_307"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"<html>login</html>", "unreadable"),
        (b"{}", "unreadable"),
        (b'{"results": 7}', "unreadable"),
        (b"\xff\xfe{", "unreadable"),
        (b'{"results": [' + b" " * 1_100_000 + b"]}", "too_large"),
    ],
)
async def test_what_is_no_result_list_is_a_fault_and_not_an_empty_result(
    web: WebSearchEngine, client: WebSearchClient, raw: bytes, kind: str
) -> None:
    web.raw = raw
    with pytest.raises(WebUnavailableError) as fault:
        await client.search("x", at_most=5)
    assert fault.value.kind == kind


async def test_an_engine_that_is_down_is_unreachable() -> None:
    client = WebSearchClient("http://127.0.0.1:9", timeout=timedelta(seconds=1))
    with pytest.raises(WebUnavailableError) as fault:
        await client.search("x", at_most=5)
    assert fault.value.kind == "unreachable"
    await client.close()


@pytest.mark.parametrize(
    "url",
    [
        *(
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ftp://web.example/x",
            "//web.example/x",
            "",
        ),
        *(
            "https://bank.example@evil.example/",
            "https://",
            "https://[broken",
            "https://web.example/\u202egpj.exe",
            "x",
        ),
        "https://web.example/" + "a" * 2_000,
    ],
)
async def test_only_addresses_of_web_pages_are_taken(web: WebSearchEngine, client: WebSearchClient, url: str) -> None:
    web.rows = [
        {"url": url, "title": "t", "content": "c"},
        {"url": "https://web.example/ok", "title": "t", "content": "c"},
    ]
    assert [one.url for one in await client.search("x", at_most=5)] == ["https://web.example/ok"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<b>Bold</b> &amp; <script>alert(1)</script>plain", "Bold & plain"),
        ("&lt;img src=x onerror=alert(1)&gt;after", "after"),
        ("a\x00b\x1b[31mc\u200bd\u202ee\U000e0041f", "ab [31mc d e f"),
        ("line\n\n\tbreaks", "line breaks"),
        ("x" * 5_000, "x" * 2_000),
    ],
)
async def test_text_is_plain(web: WebSearchEngine, client: WebSearchClient, content: str, text: str) -> None:
    web.raw = json.dumps(
        {"results": [{"url": "https://web.example/1", "title": "<i>T</i>", "content": content}]}
    ).encode()
    (found,) = await client.search("x", at_most=5)
    assert (found.title, found.text) == ("T", text)


async def test_a_page_listed_twice_counts_once_and_one_without_text_not_at_all(
    web: WebSearchEngine, client: WebSearchClient
) -> None:
    row: dict[str, object] = {"url": "https://web.example/1", "title": None, "content": "Text."}
    web.rows = [row, row, {"url": "https://web.example/2", "title": "t", "content": None}]
    (found,) = await client.search("x", at_most=5)
    assert (found.title, found.text) == ("https://web.example/1", "Text.")
