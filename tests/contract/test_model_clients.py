"""Every model client keeps the same promises, the scripted one of the tests included."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import pytest
import pytest_asyncio

from services.chat_api.adapters.model_faults import (
    ModelBusyError,
    ModelRefusedError,
    ModelStreamBrokenError,
    ModelUnavailableError,
)
from services.chat_api.adapters.openai_model import OpenAiModel
from services.chat_api.adapters.quotes_model import QuotesModel
from services.chat_api.domain.model_call import (
    ModelChunk,
    ModelClient,
    ModelMessage,
    ModelReported,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
)
from services.chat_api.domain.prompts import answer_prompt, route_prompt
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, SEARCH_KNOWLEDGE_TOOL
from tests.support.factories import make_passage
from tests.support.openai_server import DONE, ENDING, OpenAiServer, Refusal, chunk, tool_call
from tests.support.scripted_model import ScriptedModel, say, search

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_QUESTION = "How many days of annual leave are there?"


def _route() -> ModelRequest:
    return ModelRequest(
        purpose="route",
        model="any",
        prompt=route_prompt("", search_on_offer=True),
        messages=(ModelMessage("system", "Rules."), ModelMessage("user", _QUESTION)),
        tools=(SEARCH_KNOWLEDGE_TOOL,),
        question=_QUESTION,
    )


def _answer() -> ModelRequest:
    return ModelRequest(
        purpose="answer",
        model="any",
        prompt=answer_prompt(""),
        messages=(ModelMessage("system", "Rules."), ModelMessage("user", _QUESTION)),
        question=_QUESTION,
        passages=(make_passage(1, _LEAVE),),
    )


@pytest_asyncio.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer().running() as running:
        yield running


@pytest_asyncio.fixture
async def openai(server: OpenAiServer) -> AsyncIterator[OpenAiModel]:
    model = OpenAiModel(
        server.url, "key-1", connect_timeout=timedelta(seconds=2), silence_timeout=timedelta(seconds=0.5)
    )
    await model.open()
    yield model
    await model.close()


@pytest.fixture(params=["scripted", "openai", "quotes"])
def client(request: pytest.FixtureRequest, server: OpenAiServer, openai: OpenAiModel) -> ModelClient:
    """Each is prepared to search first and to answer with the one sentence of the passage then."""
    if request.param == "scripted":
        return ScriptedModel(search("annual leave"), say(f"{_LEAVE} [1]"))
    if request.param == "quotes":
        return QuotesModel()
    server.script(
        [tool_call(SEARCH_KNOWLEDGE, '{"query": "annual leave"}'), ENDING],
        [chunk(content=_LEAVE[:20]), chunk(content=f"{_LEAVE[20:]} [1]"), ENDING],
    )
    return openai


async def _all(client: ModelClient, request: ModelRequest) -> list[ModelChunk]:
    async with aclosing(client.stream(request)) as chunks:
        return [chunk async for chunk in chunks]


async def test_a_call_to_search_then_an_answer_then_what_the_provider_reports(client: ModelClient) -> None:
    routed = await _all(client, _route())
    assert {chunk.name for chunk in routed if isinstance(chunk, ToolCallDelta)} == {SEARCH_KNOWLEDGE}
    answered = await _all(client, _answer())
    text = "".join(chunk.text for chunk in answered if isinstance(chunk, TextDelta))
    assert text == f"{_LEAVE} [1]"
    for chunks in (routed, answered):
        reported = [chunk for chunk in chunks if isinstance(chunk, ModelReported)]
        assert isinstance(chunks[-1], ModelReported)
        assert any(report.usage for report in reported)
        assert any(report.model for report in reported)
        assert any(report.finish_reason for report in reported)


async def test_leaving_the_stream_early_raises_nothing(client: ModelClient) -> None:
    async with aclosing(client.stream(_route())) as chunks:
        async for _ in chunks:
            break


async def test_what_is_sent_is_what_the_endpoint_expects(server: OpenAiServer, openai: OpenAiModel) -> None:
    server.script([chunk(content="Hi"), ENDING])
    await _all(openai, _route())
    body = server.bodies[0]
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert body["messages"][-1] == {"role": "user", "content": _QUESTION}
    assert body["tools"][0]["function"]["parameters"]["required"] == ["query"]
    assert server.keys == ["Bearer key-1"]


@pytest.mark.parametrize(
    ("status", "fault"),
    [(401, ModelRefusedError), (404, ModelRefusedError), (429, ModelBusyError), (500, ModelUnavailableError)],
)
async def test_a_status_tells_whose_fault_it_is(
    server: OpenAiServer, openai: OpenAiModel, status: int, fault: type[Exception]
) -> None:
    server.script(status)
    with pytest.raises(fault):
        await _all(openai, _route())


@pytest.mark.parametrize("pause", ["0", "0.05", "Mon, 30 Nov 2020 12:00:00 GMT"])
async def test_a_busy_provider_is_asked_once_more_when_it_says_so(
    server: OpenAiServer, openai: OpenAiModel, pause: str
) -> None:
    server.script(Refusal(429, {"retry-after": pause}), [chunk(content="Hi"), ENDING])
    answered = await _all(openai, _answer())
    assert "".join(chunk.text for chunk in answered if isinstance(chunk, TextDelta)) == "Hi"
    server.script(Refusal(429, {"retry-after": pause}), Refusal(429, {"retry-after": pause}))
    with pytest.raises(ModelBusyError):
        await _all(openai, _answer())
    assert len(server.bodies) == 4


@pytest.mark.parametrize("pause", ["3600", "Fri, 30 Nov 2096 12:00:00 GMT", "soon", "-1", "", "1e3"])
async def test_a_provider_that_is_busy_for_long_is_not_waited_for(
    server: OpenAiServer, openai: OpenAiModel, pause: str
) -> None:
    server.script(Refusal(429, {"retry-after": pause}))
    with pytest.raises(ModelBusyError):
        await _all(openai, _answer())
    assert len(server.bodies) == 1


async def test_a_line_without_an_end_is_broken(server: OpenAiServer, openai: OpenAiModel) -> None:
    server.script([b"data: " + b"x" * 600_000, b"x" * 600_000, asyncio.Event()])
    with pytest.raises(ModelStreamBrokenError):
        await _all(openai, _answer())


async def test_a_stream_that_ends_too_early_is_broken(server: OpenAiServer, openai: OpenAiModel) -> None:
    server.script([chunk(content="Half")], [b"data: <html>\n\n"], [b""], [DONE])
    for _ in range(3):
        with pytest.raises(ModelStreamBrokenError):
            await _all(openai, _answer())


async def test_silence_within_a_stream_is_unavailable(server: OpenAiServer, openai: OpenAiModel) -> None:
    server.script([chunk(content="Half"), asyncio.Event()])
    with pytest.raises(ModelUnavailableError):
        await _all(openai, _answer())


async def test_a_dead_endpoint_is_unavailable() -> None:
    second = timedelta(seconds=1)
    model = OpenAiModel("http://127.0.0.1:1/v1", "", connect_timeout=second, silence_timeout=second)
    await model.open()
    with pytest.raises(ModelUnavailableError):
        await _all(model, _route())
    await model.close()


async def test_leaving_closes_the_connection_to_the_provider(server: OpenAiServer, openai: OpenAiModel) -> None:
    server.script([chunk(content="Half"), asyncio.Event()])
    async with aclosing(openai.stream(_answer())) as chunks:
        async for _ in chunks:
            break
    async with asyncio.timeout(1):
        await server.disconnected.wait()


async def test_a_connection_that_the_provider_closed_meanwhile_is_replaced() -> None:
    """It answers on the first connection once, and hangs up on the second request without a word."""
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        for at in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            asked += 1
            if at == 0:
                body = chunk(content="Hi") + ENDING
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    second = timedelta(seconds=5)
    model = OpenAiModel(f"http://127.0.0.1:{port}/v1", "", connect_timeout=second, silence_timeout=second)
    await model.open()
    try:
        for _ in range(2):
            texts = [piece.text async for piece in model.stream(_answer()) if isinstance(piece, TextDelta)]
            assert texts == ["Hi"]
    finally:
        await model.close()
        listener.close()
    assert asked == 3
