"""How much one person may ask, over all fronts."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from services.chat_api.domain.model_call import TextDelta
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, say
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("HTTP-8")]


@pytest_asyncio.fixture
async def fronts(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, model: ScriptedModel
) -> AsyncIterator[tuple[RunningFront, RunningFront]]:
    limits = {"turns_per_minute": 3, "concurrent_streams": 2}
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, turn_deadline=20, **limits)
    async with running_front(settings, model) as one, running_front(settings, model) as other:
        yield one, other


async def _refusal(client: httpx.AsyncClient, **more: object) -> httpx.Response:
    response = await client.post("/api/v1/chat", json={"message": "Hi", **more})
    assert response.status_code == 429
    assert response.headers["content-type"] == "application/problem+json"
    return response


async def test_more_questions_a_minute_than_allowed_are_refused_on_every_front(
    fronts: tuple[RunningFront, RunningFront], model: ScriptedModel, rows: Rows
) -> None:
    model.script(*(say("Hello.") for _ in range(5)))
    async with fronts[0].person("anna") as anna, fronts[1].person("anna") as elsewhere:
        for person in (anna, elsewhere, anna):
            await person.ask("Hi")
        refused = await _refusal(elsewhere.client)
        assert refused.json()["code"] == "too_many_turns"
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert await rows.count("chat.turns") == 3
        assert await rows.count("chat.conversations") == 3
        await rows.run("UPDATE chat.turns SET started_at = started_at - interval '1 minute'")
        assert (await elsewhere.ask("Hi")).outcome == "conversational"


async def test_another_person_is_not_held_back(fronts: tuple[RunningFront, RunningFront], model: ScriptedModel) -> None:
    model.script(*(say("Hello.") for _ in range(4)))
    async with fronts[0].person("anna") as anna, fronts[0].person("hana") as hana:
        for _ in range(3):
            await anna.ask("Hi")
        assert (await hana.ask("Hi")).outcome == "conversational"


async def test_more_streams_at_once_than_allowed_are_refused_until_one_ends(
    fronts: tuple[RunningFront, RunningFront], model: ScriptedModel
) -> None:
    go_on = asyncio.Event()
    model.script(*(Reply([TextDelta("word " * 60), go_on]) for _ in range(2)))
    async with fronts[0].person("anna") as anna, fronts[1].person("anna") as elsewhere:
        async with anna.asking("Hi") as first, elsewhere.asking("Hi") as second:
            await anext(first)
            await anext(second)
            assert (await _refusal(anna.client)).json()["code"] == "too_many_streams"
            go_on.set()
            async for _ in first:
                pass
        model.script(say("Hello."))
        assert (await anna.ask("Hi")).outcome == "conversational"


async def test_questions_that_arrive_together_do_not_slip_through(
    fronts: tuple[RunningFront, RunningFront], model: ScriptedModel, rows: Rows
) -> None:
    model.script(*(say("Hello.") for _ in range(8)))
    async with fronts[0].person("anna") as anna:
        answers = await asyncio.gather(*(anna.client.post("/api/v1/chat", json={"message": "Hi"}) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200, 429}
    assert await rows.count("chat.turns") <= 3


async def test_sending_the_same_message_again_is_told_and_not_counted(
    fronts: tuple[RunningFront, RunningFront], model: ScriptedModel
) -> None:
    model.script(*(say("Hello.") for _ in range(3)))
    async with fronts[0].person("anna") as anna:
        for at in range(3):
            await anna.ask("Hi", client_message_id=f"m-{at}")
        again = await anna.ask("Hi", client_message_id="m-1")
    assert again.text == "Hello."
