"""The real `openai` package, unchanged, with its own validation of every answer turned on."""

import asyncio
from collections.abc import AsyncIterator

import openai
import pytest
import pytest_asyncio
from openai.types.chat import ChatCompletionChunk, ChatCompletionUserMessageParam

from services.chat_api.adapters.model_faults import ModelUnavailableError
from services.chat_api.domain.model_call import TextDelta
from tests.support.front import RunningFront, make_api_key, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_ASK: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "How much leave do I have?"}]


def _client(front: RunningFront, api_key: str, headers: dict[str, str] | None = None) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=f"{front.url}/v1",
        api_key=api_key,
        default_headers=headers,
        max_retries=0,
        _strict_response_validation=True,
    )


@pytest_asyncio.fixture
async def client(front: RunningFront, api_key: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with _client(front, api_key) as found:
        yield found


def _text(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


@pytest.mark.req("HTTP-2")
async def test_a_whole_answer_has_text_annotations_usage_and_ids(
    client: openai.AsyncOpenAI, front: RunningFront, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    answer = await client.chat.completions.create(model="achilles", messages=_ASK, temperature=0, max_tokens=50)
    message = answer.choices[0].message
    assert (message.content, answer.choices[0].finish_reason) == (f"{_LEAVE} [1]", "stop")
    assert message.annotations is not None
    cited = message.annotations[0].url_citation
    assert (message.content or "")[cited.start_index : cited.end_index] == "[1]"
    assert cited.url == f"{front.url}/sources/handbook/page-1.md"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (200, 40)
    ours = (answer.model_extra or {})["achilles"]
    assert ours["outcome"] == "grounded"
    assert ours["message_id"] == str(await rows.one("SELECT message_id FROM chat.turns"))


@pytest.mark.req("HTTP-2")
async def test_a_lie_passes_the_gate_no_more_than_elsewhere(
    client: openai.AsyncOpenAI, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1] Managers have 45 days of annual leave. [1]"))
    answer = await client.chat.completions.create(model="achilles", messages=_ASK)
    assert answer.choices[0].message.content == f"{_LEAVE} [1]"


@pytest.mark.req("HTTP-2")
async def test_a_stream_ends_with_annotations_reason_and_usage(
    client: openai.AsyncOpenAI, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    stream = await client.chat.completions.create(
        model="achilles", messages=_ASK, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    assert _text(chunks) == f"{_LEAVE} [1]"
    assert chunks[0].choices[0].delta.role == "assistant"
    annotated = [choice.delta.model_extra or {} for chunk in chunks for choice in chunk.choices]
    assert [extra["annotations"][0]["type"] for extra in annotated if "annotations" in extra] == ["url_citation"]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 240


async def test_the_streaming_helper_assembles_the_same_answer(
    client: openai.AsyncOpenAI, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    async with client.chat.completions.stream(model="achilles", messages=_ASK) as stream:
        answer = await stream.get_final_completion()
    assert answer.choices[0].message.content == f"{_LEAVE} [1]"


@pytest.mark.req("HTTP-2")
async def test_a_thread_is_continued_by_its_id(client: openai.AsyncOpenAI, model: ScriptedModel, rows: Rows) -> None:
    model.script(say("Hello."), say("Hello again."))
    first = await client.chat.completions.create(model="achilles", messages=_ASK)
    thread = {"X-Conversation-Id": (first.model_extra or {})["achilles"]["conversation_id"]}
    await client.chat.completions.create(model="achilles", messages=_ASK, extra_headers=thread)
    assert await rows.count("chat.conversations") == 1
    assert [message.content for message in model.requests[1].messages[1:3]] == [_ASK[0]["content"], "Hello."]


@pytest.mark.req("HTTP-2")
async def test_models_are_listed_and_read(client: openai.AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == ["achilles", "quotes"]
    assert (await client.models.retrieve("achilles")).owned_by == "achilles"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-nope")


@pytest.mark.req("HTTP-6")
async def test_each_refusal_is_the_error_class_of_the_client(client: openai.AsyncOpenAI, front: RunningFront) -> None:
    completions = client.chat.completions
    with pytest.raises(openai.BadRequestError) as refused:
        await completions.create(model="achilles", messages=_ASK, n=2)
    assert (refused.value.code, refused.value.param) == ("unsupported_parameter", "n")
    assert refused.value.request_id
    with pytest.raises(openai.NotFoundError) as unknown:
        await completions.create(model="gpt-nope", messages=_ASK)
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.APIStatusError) as large:
        await completions.create(model="achilles", messages=[{"role": "user", "content": "word " * 30_000}])
    assert large.value.status_code == 413
    async with _client(front, "ak-unknown") as nobody:
        with pytest.raises(openai.AuthenticationError):
            await nobody.chat.completions.create(model="achilles", messages=_ASK)


@pytest.mark.req("HTTP-6")
async def test_a_failed_turn_raises_before_and_within_a_stream(
    client: openai.AsyncOpenAI, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(
        Reply([ModelUnavailableError()]),
        search("leave"),
        Reply([TextDelta(f"{_LEAVE} [1] And then"), ModelUnavailableError()]),
    )
    with pytest.raises(openai.InternalServerError) as failed:
        await client.chat.completions.create(model="achilles", messages=_ASK)
    assert (failed.value.status_code, failed.value.code) == (503, "model_unavailable")
    stream = await client.chat.completions.create(model="achilles", messages=_ASK, stream=True)
    seen: list[ChatCompletionChunk] = []
    with pytest.raises(openai.APIError, match="did not answer properly"):
        await _read_into(seen, stream)
    assert _text(seen).startswith(_LEAVE)


async def _read_into(seen: list[ChatCompletionChunk], stream: openai.AsyncStream[ChatCompletionChunk]) -> None:
    async for chunk in stream:
        seen.append(chunk)


async def test_a_long_silence_is_waited_through(client: openai.AsyncOpenAI, model: ScriptedModel) -> None:
    gate = asyncio.Event()
    model.script(Reply([gate, TextDelta("Hello.")]))
    stream = await client.chat.completions.create(model="achilles", messages=_ASK, stream=True)
    asyncio.get_running_loop().call_later(0.5, gate.set)
    assert _text([chunk async for chunk in stream]).startswith("Hello.")


async def test_more_questions_than_allowed_are_a_rate_limit_with_its_pause(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, turns_per_minute=1)
    async with running_front(settings, ScriptedModel(say("Hello."))) as front, front.person() as anna:
        api_key = await make_api_key(anna)
        async with _client(front, api_key) as client:
            await client.chat.completions.create(model="achilles", messages=_ASK)
            with pytest.raises(openai.RateLimitError) as limited:
                await client.chat.completions.create(model="achilles", messages=_ASK)
    assert limited.value.type == "rate_limit_error"
    assert int(limited.value.response.headers["retry-after"]) > 0


async def test_closing_a_stream_stops_the_turn(
    client: openai.AsyncOpenAI, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), Reply([TextDelta(f"{_LEAVE} [1] Next comes"), asyncio.Event()]))
    stream = await client.chat.completions.create(model="achilles", messages=_ASK, stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    async with asyncio.timeout(1):
        await model.closed_early.wait()
    assert await eventually(lambda: rows.one("SELECT outcome FROM chat.turns")) == "interrupted"


async def test_asking_again_under_one_key_after_leaving_is_told_that_it_was_stopped(
    front: RunningFront, api_key: str, model: ScriptedModel, rows: Rows
) -> None:
    gate = asyncio.Event()
    model.script(Reply([gate, TextDelta("Hello.")]))
    headers = {"Idempotency-Key": "k-1"}
    async with _client(front, api_key, headers) as client:
        impatient = client.with_options(timeout=4)
        with pytest.raises(openai.APITimeoutError):
            await impatient.chat.completions.create(model="achilles", messages=_ASK)
        await eventually(lambda: rows.one("SELECT outcome FROM chat.turns"))
        told = await client.chat.completions.create(model="achilles", messages=_ASK)
    assert told.choices[0].finish_reason == "length"
    assert (told.model_extra or {})["achilles"]["outcome"] == "interrupted"
    assert len(model.requests) == 1
