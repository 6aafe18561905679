"""What is seen of a turn while it runs, with the real model client between two real sockets."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE
from services.chat_api.settings import ChatApiSettings
from shared.embedded.data_folder import DataFolder
from shared.embedded.nats import EmbeddedNats
from tests.support.front import Answer, Person, RunningFront, make_front_settings, running_front
from tests.support.openai_server import ENDING, OpenAiServer, Refusal, chunk, tool_call
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_LAPSE = "Unused days lapse on 31 March of the following year."
_SEARCH = [tool_call(SEARCH_KNOWLEDGE, '{"query": "annual leave"}'), ENDING]
_ASKS = {
    "/api/v1/chat": {"message": "Hi"},
    "/v1/chat/completions": {
        "model": "achilles",
        "stream": True,
        "messages": [{"role": "user", "content": "Hi"}],
    },
}


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer().running() as running:
        yield running


@pytest.fixture
def settings(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, provider: OpenAiServer
) -> ChatApiSettings:
    more = {"model_base_url": provider.url, "model": "m-1", "keep_alive_every": 0.2, "turn_deadline": 20}
    return make_front_settings(database_url, nats_url, redis_url, store.url, **more)


@pytest_asyncio.fixture
async def front(settings: ChatApiSettings) -> AsyncIterator[RunningFront]:
    """With no model but the one behind the provider's socket."""
    async with running_front(settings) as running:
        yield running


@pytest.mark.req("STREAM-1")
async def test_a_sentence_is_read_while_the_next_is_being_written(
    anna: Person, provider: OpenAiServer, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE, _LAPSE)
    gate = asyncio.Event()
    provider.script(
        _SEARCH, [chunk(content=f"{_LEAVE} [1] {_LAPSE[:12]}"), gate, chunk(content=f"{_LAPSE[12:]} [2]"), ENDING]
    )
    read = ""
    async with anna.asking("leave?") as parts:
        async for part in parts:
            if part["type"] == "text-delta":
                read += part["delta"]
                if not gate.is_set():
                    assert read.strip() == f"{_LEAVE} [1]"
                    gate.set()
    assert read == f"{_LEAVE} [1] {_LAPSE} [2]"


@pytest.mark.req("STREAM-2")
async def test_a_turn_is_answered_while_no_broker_runs(
    database_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    # Not pytest's own temporary folder: its parents are closed to the unprivileged user that the server runs as.
    folder = Path(tempfile.mkdtemp(prefix="achilles-nats-"))
    broker = EmbeddedNats(DataFolder.prepared(folder))
    await broker.start()
    try:
        settings = make_front_settings(database_url, broker.url, redis_url, store.url)
        async with running_front(settings, ScriptedModel(say("One."), say("Two."))) as front, front.person() as anna:
            assert (await anna.ask("Hi")).text == "One."
            await broker.stop()
            answer = await anna.ask("Hi again")
        assert (answer.text, answer.outcome) == ("Two.", "conversational")
        kept = "SELECT count(*) FROM mesh.outbox WHERE position($1::bytea in payload) > 0"
        assert await rows.one(kept, answer.message_id.encode()) > 0, "its events wait for the broker"
    finally:
        await broker.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.req("STREAM-3")
async def test_citations_close_the_answer_and_belong_to_its_message(
    anna: Person, provider: OpenAiServer, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE, _LAPSE)
    provider.script(_SEARCH, [chunk(content=f"{_LEAVE} [1] {_LAPSE} [2]"), ENDING])
    answer = await anna.ask("leave?")
    kinds = [part["type"] for part in answer.parts]
    assert kinds.index("data-citation") > kinds.index("text-end")
    assert [one["n"] for one in answer.citations] == [1, 2]
    thread = (await anna.client.get(f"/api/v1/conversations/{answer.conversation_id}")).json()
    stored = {message["id"]: message["citations"] for message in thread["messages"]}
    assert stored[answer.message_id] == answer.citations
    assert [len(cited) for cited in stored.values()] == [0, 2]


@pytest.mark.req("STREAM-4")
@pytest.mark.parametrize("path", _ASKS)
async def test_the_providers_connection_is_closed_within_a_second_of_a_clients(
    anna: Person, provider: OpenAiServer, store: StubKnowledgeStore, rows: Rows, path: str
) -> None:
    store.holds(_LEAVE)
    provider.script(_SEARCH, [chunk(content=f"{_LEAVE} [1] Next comes"), asyncio.Event()])
    async with anna.client.stream("POST", path, json=_ASKS[path]) as response:
        async for line in response.aiter_lines():
            if "full-time" in line:
                break
        assert not provider.disconnected.is_set()
    async with asyncio.timeout(1):
        await provider.disconnected.wait()
    stored = await eventually(lambda: rows.all("SELECT * FROM chat.messages WHERE role = 'assistant'"))
    assert [(row["content"], row["outcome"]) for row in stored] == [(f"{_LEAVE} [1]", "interrupted")]
    # The search was reported as 30 and 5 tokens; what was broken off is estimated on top.
    assert stored[0]["tokens_used"] > 35


@pytest.mark.req("STREAM-5")
async def test_the_tokens_of_every_call_stand_on_the_answer_alone(
    anna: Person, provider: OpenAiServer, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    unusable = [tool_call(SEARCH_KNOWLEDGE, "{}"), ENDING]
    provider.script(unusable, _SEARCH, [chunk(content=f"{_LEAVE} [1]"), ENDING])
    answer = await anna.ask("leave?")
    told = answer.of("message-metadata")[0]["messageMetadata"]
    assert (told["tokens_used"], told["usage"]) == (105, {"input_tokens": 90, "output_tokens": 15})
    stored = await rows.all("SELECT role, tokens_used FROM chat.messages ORDER BY position")
    assert [(row["role"], row["tokens_used"]) for row in stored] == [("user", None), ("assistant", 105)]


@pytest.mark.req("STREAM-6")
@pytest.mark.parametrize("size", [1, 2, 3, 5])
async def test_text_cut_anywhere_in_its_bytes_arrives_whole(anna: Person, provider: OpenAiServer, size: int) -> None:
    text = "Здравствуйте! 您好，年假 🙂 é ß ﷽ 👩‍👩‍👧 — Grüße"
    body = b"".join(chunk(content=word) for word in (text[:9], text[9:])) + ENDING
    provider.script([body[at : at + size] for at in range(0, len(body), size)])
    answer = await anna.ask("Hi")
    assert (answer.text, answer.outcome) == (text, "conversational")


@pytest.mark.req("STREAM-6")
@pytest.mark.parametrize("path", _ASKS)
async def test_silence_is_filled_with_comments_and_proxies_are_told_not_to_buffer(
    anna: Person, provider: OpenAiServer, path: str
) -> None:
    gate = asyncio.Event()
    provider.script([gate, chunk(content="Hello."), ENDING])
    async with anna.client.stream("POST", path, json=_ASKS[path]) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-cache"
        assert response.headers["x-accel-buffering"] == "no"
        comments = 0
        lines = []
        async for line in response.aiter_lines():
            comments += line.startswith(":")
            if comments == 2:
                gate.set()
            lines.append(line)
    assert any("Hello." in line for line in lines)
    assert all(line.startswith(("data: ", ":")) for line in lines if line)


@pytest.mark.req("STREAM-7")
async def test_a_provider_that_breaks_off_ends_the_stream_with_an_error(
    anna: Person, provider: OpenAiServer, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    provider.script(_SEARCH, [chunk(content=f"{_LEAVE} [1] And then")])
    answer = await anna.ask("leave?")
    assert answer.parts[-1]["type"] == "error"
    assert answer.error_code == "model_stream_broken"
    assert await _stored(rows) == (answer.text, "failed")
    assert answer.text.startswith(_LEAVE)


async def _stored(rows: Rows) -> tuple[Any, Any]:
    row = (await rows.all("SELECT content, outcome FROM chat.messages WHERE role = 'assistant'"))[0]
    return row["content"], row["outcome"]


async def test_a_busy_provider_costs_a_pause_or_a_clear_failure(anna: Person, provider: OpenAiServer) -> None:
    provider.script(Refusal(429, {"retry-after": "0"}), [chunk(content="Hello."), ENDING])
    assert (await anna.ask("Hi")).text == "Hello."
    provider.script(Refusal(429, {"retry-after": "600"}))
    refused: Answer = await anna.ask("Hi")
    assert refused.of("data-error")[0]["data"] == {"code": "model_busy", "retryable": True}
    assert "no more requests right now" in refused.of("error")[0]["errorText"]
