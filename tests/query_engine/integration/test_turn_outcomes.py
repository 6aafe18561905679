"""Each way in which a turn can end, over a real socket."""

import asyncio
from typing import Any

import httpx
import pytest

from services.chat_api.adapters.model_faults import ModelUnavailableError
from services.chat_api.domain.model_call import TextDelta
from shared.knowledge_contract import Withheld
from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."


@pytest.mark.req("ROUTE-1", "ROUTE-4")
async def test_search_turn_answers_from_what_was_found(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    model.script(search("How much annual leave does a full-time employee have?"), say(f"{_LEAVE} [1]"))
    answer = await anna.ask("How much is it?")
    assert answer.outcome == "grounded"
    assert answer.text == f"{_LEAVE} [1]"
    assert [one["record_id"] for one in answer.citations] == ["handbook/page-1.md"]
    assert store.searches[0].query == "How much annual leave does a full-time employee have?"
    events = await rows.all("SELECT subject FROM mesh.outbox WHERE subject LIKE '%retrieved'")
    assert len(events) == 1


@pytest.mark.req("ROUTE-2", "GROUND-10")
async def test_small_talk_searches_nothing(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    model.script(say("Hello there, nice to meet you in the year 1815!"))
    answer = await anna.ask("Hi")
    assert (answer.outcome, answer.citations, store.searches) == ("conversational", [], [])
    assert answer.text == "Hello there, nice to meet you in the year 1815!"
    assert answer.of("data-notice")[0]["data"]["code"] == "conversational"
    assert await rows.one("SELECT count(*) FROM mesh.outbox WHERE subject LIKE '%retrieved'") == 0


async def test_the_stages_are_told_in_order(anna: Person, model: ScriptedModel, store: StubKnowledgeStore) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    answer = await anna.ask("leave?")
    assert [part["data"]["stage"] for part in answer.of("data-status")] == ["reading", "searching", "answering"]
    assert answer.parts[0]["type"] == "start"
    assert answer.parts[-1]["type"] == "finish"


async def test_a_store_that_fails_makes_the_turn_fail(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.failing = True
    model.script(search("leave"))
    answer = await anna.ask("How much leave do I have?")
    assert (answer.outcome, answer.error_code) == (None, "knowledge_unavailable")
    assert answer.of("data-error")[0]["data"]["retryable"] is True
    assert await rows.one("SELECT outcome FROM chat.turns") == "failed"
    assert "nothing" not in answer.of("error")[0]["errorText"]


@pytest.mark.req("ROUTE-9", "GROUND-11")
async def test_an_empty_store_takes_the_search_away(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.is_empty = True
    model.script(say("Paris is the capital of France."))
    answer = await anna.ask("What is the capital of France?")
    assert answer.outcome == "conversational"
    assert model.requests[0].tools == ()
    assert store.searches == []


@pytest.mark.req("ROUTE-12")
async def test_an_unusable_call_is_put_to_the_model_once_more(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    model.script(search(""), search("annual leave"), say(f"{_LEAVE} [1]"))
    assert (await anna.ask("leave?")).outcome == "grounded"
    model.script(search(""), search(""))
    failed = await anna.ask("leave again?")
    assert failed.error_code == "tool_call_unusable"
    assert len(store.searches) == 1


async def test_a_model_that_cannot_be_reached_makes_the_turn_fail(anna: Person, model: ScriptedModel) -> None:
    model.script(Reply([ModelUnavailableError()]))
    answer = await anna.ask("Anything?")
    assert (answer.error_code, answer.text) == ("model_unavailable", "")


@pytest.mark.req("STREAM-7")
async def test_what_was_released_before_a_fault_stays_in_the_thread(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), Reply([TextDelta(f"{_LEAVE} [1] And then"), ModelUnavailableError()]))
    answer = await anna.ask("leave?")
    assert answer.error_code == "model_unavailable"
    thread = (await anna.client.get(f"/api/v1/conversations/{answer.conversation_id}")).json()
    assert (thread["messages"][1]["content"], thread["messages"][1]["outcome"]) == (answer.text, "failed")
    assert answer.text.startswith(_LEAVE)


@pytest.mark.req("STREAM-4")
async def test_a_client_that_leaves_ends_the_generation(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    never = asyncio.Event()
    model.script(search("leave"), Reply([TextDelta(f"{_LEAVE} [1] Next comes"), never]))
    released = ""
    async with anna.asking("leave?") as parts:
        async for part in parts:
            if part["type"] == "text-delta":
                released += part["delta"]
                break
    async with asyncio.timeout(1):
        await model.closed_early.wait()
    state = await eventually(lambda: rows.all("SELECT * FROM chat.messages WHERE role = 'assistant'"))
    assert (state[0]["content"], state[0]["outcome"]) == (released, "interrupted")
    assert state[0]["tokens_used"] > 0
    assert await rows.one("SELECT state FROM chat.turns") == "finished"


async def test_a_client_that_leaves_while_the_answer_is_stored_changes_nothing(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    gate = asyncio.Event()
    model.script(search("leave"), Reply([gate, TextDelta(f"{_LEAVE} [1]")]))
    async with anna.asking("leave?") as parts:
        await anext(parts)
        async with rows.transaction():
            await rows.all("SELECT * FROM chat.turns FOR UPDATE")
            gate.set()
            async for part in parts:
                if part["type"] == "data-citation":
                    break
            await eventually(lambda: rows.one("SELECT count(*) FROM pg_locks WHERE NOT granted"))
            await anna.client.aclose()
    outcome = "SELECT outcome FROM chat.messages WHERE role = 'assistant'"
    assert await eventually(lambda: rows.one(outcome)) == "grounded"


async def test_the_stop_button_ends_ones_own_turn_only(
    front: RunningFront, anna: Person, hana: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), Reply([TextDelta(f"{_LEAVE} [1] Next comes"), asyncio.Event()]))
    seen = []
    async with anna.asking("leave?") as parts:
        async for part in parts:
            seen.append(part)
            if part["type"] == "text-delta":
                message_id = seen[0]["messageId"]
                assert (await hana.client.post(f"/api/v1/turns/{message_id}/stop")).status_code == 404
                assert (await anna.client.post(f"/api/v1/turns/{message_id}/stop")).status_code == 202
    assert seen[-1]["type"] == "abort"


@pytest.mark.req("STREAM-8")
@pytest.mark.parametrize("notification", ["heard", "lost"])
async def test_a_turn_is_stopped_from_another_front(
    database_url: str,
    nats_url: str,
    redis_url: str,
    store: StubKnowledgeStore,
    rows: Rows,
    notification: str,
) -> None:
    model = ScriptedModel(Reply([asyncio.Event()]))
    watch = 60 if notification == "heard" else 0.1
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, stop_watch_every=watch)
    async with running_front(settings, model) as one, running_front(settings, ScriptedModel()) as other:
        async with one.person() as anna, other.person() as elsewhere, anna.asking("Hi") as parts:
            message_id = (await anext(parts))["messageId"]
            if notification == "lost":
                await rows.run("UPDATE chat.turns SET stop_requested_at = now()")
            else:
                assert (await elsewhere.client.post(f"/api/v1/turns/{message_id}/stop")).status_code == 202
            rest = [part["type"] async for part in parts]
        assert rest[-1] == "abort"
    assert await rows.one("SELECT outcome FROM chat.turns") == "interrupted"


@pytest.mark.parametrize(
    "sign", ["lease_until = now() - interval '1 s'", "stop_requested_at = now() - interval '1 min'"]
)
async def test_a_turn_whose_front_died_is_closed_and_its_conversation_free_again(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows, sign: str
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, reap_every=0.1)
    model = ScriptedModel(say("One."), say("Two."))
    async with running_front(settings, model) as front, front.person() as anna:
        first = await anna.ask("Hi")
        await rows.run(
            "INSERT INTO chat.turns (message_id, task_id, conversation_id, owner_id, client_message_id, "
            "user_message_id, state, lease_until, started_at) SELECT gen_random_uuid(), task_id, conversation_id, "
            "owner_id, 'orphan', user_message_id, 'running', now() + interval '1 h', now() FROM chat.turns"
        )
        await rows.run(f"UPDATE chat.turns SET {sign} WHERE client_message_id = 'orphan'")
        closed = "SELECT outcome FROM chat.turns WHERE client_message_id = 'orphan'"
        assert await eventually(lambda: rows.one(closed)) == "interrupted"
        assert (await anna.ask("Hi again", conversation_id=first.conversation_id)).text == "Two."


@pytest.mark.req("TURN-5")
async def test_two_turns_at_once_in_one_conversation_are_refused(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    gate = asyncio.Event()
    model.script(say("Hello."), Reply([gate, TextDelta("Hello again.")]))
    first = await anna.ask("Hi")
    async with anna.asking("Hi again", conversation_id=first.conversation_id) as parts:
        running = await anext(parts)
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await anna.ask("And again", conversation_id=first.conversation_id)
        gate.set()
        rest = [part async for part in parts]
    assert refused.value.response.status_code == 409
    assert refused.value.response.json()["message_id"] == running["messageId"]
    assert rest[-1]["type"] == "finish"


@pytest.mark.req("STREAM-9")
async def test_the_same_client_message_is_never_asked_twice(anna: Person, model: ScriptedModel, rows: Rows) -> None:
    gate = asyncio.Event()
    model.script(Reply([gate, TextDelta("Hello.")]))
    async with anna.asking("Hi", client_message_id="c1") as parts:
        running = await anext(parts)
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await anna.ask("Hi", client_message_id="c1")
        gate.set()
        _ = [part async for part in parts]
    assert refused.value.response.json()["message_id"] == running["messageId"]
    replayed = await anna.ask("Hi", client_message_id="c1")
    assert (replayed.text, replayed.message_id) == ("Hello.", running["messageId"])
    assert (await rows.count("chat.conversations"), await rows.count("chat.messages")) == (1, 2)
    assert len(model.requests) == 1


async def test_an_answer_that_could_not_be_saved_is_saved_later_and_replayed(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    gate = asyncio.Event()
    model = ScriptedModel(search("leave"), Reply([gate, TextDelta(f"{_LEAVE} [1]")]))
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, finalise_deadline=1)
    async with running_front(settings, model) as front, front.person() as anna:
        async with rows.transaction():
            seen: list[dict[str, Any]] = []
            async with anna.asking("leave?", client_message_id="c1") as parts:
                async for part in parts:
                    seen.append(part)
                    if part["type"] == "data-status" and not gate.is_set():
                        await rows.all("SELECT * FROM chat.turns FOR UPDATE")
                        gate.set()
            assert [part["data"]["code"] for part in seen if part["type"] == "data-error"] == ["not_saved"]
        await eventually(lambda: rows.one("SELECT state = 'finished' FROM chat.turns"))
        replayed = await anna.ask("leave?", client_message_id="c1")
    assert (replayed.outcome, replayed.text) == ("grounded", f"{_LEAVE} [1]")
    assert len(model.requests) == 2


async def test_what_was_found_and_does_not_fit_is_not_told_as_not_found(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    store.holds("word " * 9_000)
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    async with running_front(settings, ScriptedModel(search("leave"))) as front, front.person() as anna:
        answer = await anna.ask("leave?")
    assert (answer.outcome, answer.error_code) == (None, "message_too_large")


async def test_a_failed_turn_told_again_is_not_retryable(anna: Person, model: ScriptedModel) -> None:
    model.script(Reply([ModelUnavailableError()]))
    first = await anna.ask("Anything?", client_message_id="c1")
    again = await anna.ask("Anything?", client_message_id="c1")
    assert first.of("data-error")[0]["data"] == {"code": "model_unavailable", "retryable": True}
    assert again.of("data-error")[0]["data"] == {"code": "failed_earlier", "retryable": False}


async def test_a_conversational_answer_told_again_keeps_its_label(anna: Person, model: ScriptedModel) -> None:
    model.script(say("Hello."))
    await anna.ask("Hi", client_message_id="c1")
    again = await anna.ask("Hi", client_message_id="c1")
    assert (again.outcome, again.of("data-notice")[0]["data"]["code"]) == ("conversational", "conversational")


async def test_hidden_and_not_found_are_told_apart(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    model.script(search("a"), search("b"))
    absent = await anna.ask("What is the weather on Mars?")
    store.withheld = (Withheld(source_system="HR", contact="hana@halden.example"),)
    hidden = await anna.ask("What are the salary bands?")
    assert (absent.outcome, absent.hint) == ("not_found", None)
    assert hidden.outcome == "withheld"
    assert hidden.hint is not None
    assert hidden.hint["withheld"] == [{"source_system": "HR", "contact": "hana@halden.example"}]
    assert len(model.requests) == 2, "nothing is generated when nothing was found"


async def test_an_answer_beside_something_hidden_is_partial(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    store.withheld = (Withheld(source_system="HR"),)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    answer = await anna.ask("leave?")
    assert answer.outcome == "partial"
    assert answer.hint is not None
    assert answer.hint["withheld"] == [{"source_system": "HR"}]
