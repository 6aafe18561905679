"""Renaming, selecting a model, searching and deleting one's own conversations."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.wiring import EFFECTS as SIGNAL_EFFECTS
from services.trace_writer.wiring import EFFECTS as TRACE_EFFECTS
from shared.messaging.delivery import Delivery, DeliveryService
from tests.support.front import Answer, Person
from tests.support.list_routes import add_conversation, add_message
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."


def _path(conversation_id: object) -> str:
    return f"/api/v1/conversations/{conversation_id}"


@pytest.mark.req("CONV-6")
async def test_a_renamed_conversation_keeps_its_name_and_counts_as_used(anna: Person, rows: Rows) -> None:
    old, new = await add_conversation(rows, title="Old"), await add_conversation(rows, title="New")
    changed = await anna.client.patch(_path(old), json={"title": "  Отпуск\n 年假 👩‍👩‍👧 "})
    assert (changed.status_code, changed.json()["title"]) == (200, "Отпуск 年假 👩‍👩‍👧")
    listed = (await anna.client.get("/api/v1/conversations")).json()["data"]
    assert [(one["id"], one["title"]) for one in listed] == [(old, "Отпуск 年假 👩‍👩‍👧"), (new, "New")]
    assert changed.json()["updated_at"] > changed.json()["created_at"]


@pytest.mark.req("CONV-6", "MODEL-1", "MODEL-4")
async def test_a_selected_model_must_be_allowed_and_null_is_the_default(
    anna: Person, model: ScriptedModel, rows: Rows
) -> None:
    model.script(say("Hello."), say("Again."))
    conversation = (await anna.ask("Hi")).conversation_id
    refused = await anna.client.patch(_path(conversation), json={"selected_model": "secret-model", "title": "No"})
    assert (refused.status_code, refused.json()["code"]) == (422, "model_not_allowed")
    before = await rows.one("SELECT updated_at FROM chat.conversations")
    assert await rows.one("SELECT coalesce(selected_model, title) FROM chat.conversations") == "Hi"
    chosen = await anna.client.patch(_path(conversation), json={"selected_model": "quotes"})
    assert (chosen.status_code, chosen.json()["selected_model"], chosen.json()["title"]) == (200, "quotes", "Hi")
    assert await rows.one("SELECT updated_at FROM chat.conversations") > before
    model_of_first = "SELECT model FROM chat.messages WHERE role = 'assistant' ORDER BY position LIMIT 1"
    assert await rows.one(model_of_first) == "scripted-1"
    default = await anna.client.patch(_path(conversation), json={"selected_model": None})
    assert (default.status_code, default.json()["selected_model"]) == (200, None)


@pytest.mark.req("CONV-6")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"title": ""},
        {"title": " \n\t"},
        {"title": "\u202e"},
        {"title": "x" * 201},
        {"title": None},
        {"title": 7},
        {"title": "\x00"},
        {"selected_model": 7},
        {"selected_model": ""},
        {"owner_id": "hana"},
        {"title": "Fine", "updated_at": "2020-01-01T00:00:00Z"},
        [],
    ],
)
async def test_a_change_that_cannot_be_meant_is_refused_and_changes_nothing(
    anna: Person, rows: Rows, body: Any
) -> None:
    conversation = await add_conversation(rows, title="Same")
    response = await anna.client.patch(_path(conversation), json=body)
    assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json")
    assert await rows.one("SELECT title FROM chat.conversations") == "Same"


@pytest.mark.req("CONV-3", "CONV-6", "ACL-9")
@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_changing_somebody_elses_is_the_same_404_as_unknown(anna: Person, rows: Rows, method: str) -> None:
    theirs = await add_conversation(rows, "hana", "Hers")
    body = {"title": "Mine"} if method == "PATCH" else None
    answers = [
        await anna.client.request(method, _path(one), json=body, headers={"x-request-id": "r1"})
        for one in (theirs, uuid4(), "no-uuid")
    ]
    assert [one.status_code for one in answers] == [404, 404, 404]
    assert len({one.content for one in answers}) == 1
    assert await rows.one("SELECT title FROM chat.conversations") == "Hers"


async def _grounded(person: Person, model: ScriptedModel, store: StubKnowledgeStore) -> Answer:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    return await person.ask("How much leave?")


async def _apply(engine: AsyncEngine, rows: Rows) -> None:
    """What the workers do with everything that waits in the ledger."""
    waiting = await rows.all("SELECT subject, payload, headers FROM mesh.outbox ORDER BY created_at")
    for name, effects in (("signal_worker", SIGNAL_EFFECTS), ("trace_writer", TRACE_EFFECTS)):
        subjects = {event.subject for event in effects}
        mine = [_delivery(one) for one in waiting if one["subject"] in subjects]
        await DeliveryService(engine, name, effects).deliver(mine)


def _delivery(row: dict[str, Any]) -> Delivery:
    return Delivery(row["subject"], row["payload"], json.loads(row["headers"]))


_TRACES = ("chat.conversations", "chat.messages", "chat.turns", "traces.retrievals", "traces.runs")


@pytest.mark.req("CONV-6")
async def test_deleting_removes_messages_and_traces_and_leaves_usage(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows, engine: AsyncEngine
) -> None:
    answer = await _grounded(anna, model, store)
    await _apply(engine, rows)
    assert all([await rows.count(table) for table in _TRACES])
    usage = await rows.count("signals.usage")
    deleted = await anna.client.delete(_path(answer.conversation_id))
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert [await rows.count(table) for table in _TRACES] == [0] * len(_TRACES)
    assert await rows.count("signals.usage") == usage == 2
    assert (await anna.client.get(_path(answer.conversation_id))).status_code == 404
    assert (await anna.client.delete(_path(answer.conversation_id))).status_code == 404


@pytest.mark.req("CONV-6")
async def test_events_of_a_conversation_deleted_meanwhile_are_applied_as_nothing(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows, engine: AsyncEngine
) -> None:
    answer = await _grounded(anna, model, store)
    await anna.client.put(f"/api/v1/messages/{answer.message_id}/feedback", json={"value": 1})
    await anna.client.delete(_path(answer.conversation_id))
    await _apply(engine, rows)
    assert [await rows.count(table) for table in (*_TRACES, "mesh.outbox", "mesh.dead_letters")] == [0] * 7
    assert await rows.count("signals.usage") == 2


@pytest.mark.req("CONV-6")
async def test_deleting_stops_a_running_answer_first_and_counts_its_usage(
    anna: Person, model: ScriptedModel, rows: Rows
) -> None:
    model.script(Reply([*say("Once upon a time. " * 10).steps, asyncio.Event()]))
    async with anna.asking("Tell me a story") as parts:
        started = await anext(parts)
        async for part in parts:
            if part["type"] == "text-delta":
                break
        conversation = started["messageMetadata"]["conversation_id"]
        assert (await anna.client.delete(_path(conversation))).status_code == 204
        assert [part["type"] async for part in parts][-1] == "abort"
    assert [await rows.count(table) for table in ("chat.conversations", "chat.messages", "chat.turns")] == [0, 0, 0]
    assert await rows.one("SELECT count(*) FROM mesh.outbox WHERE subject LIKE '%usage'") == 1
    assert model.closed_early.is_set()


@pytest.mark.req("CONV-6")
async def test_deleting_once_and_twice_at_once_are_the_same(anna: Person, rows: Rows) -> None:
    conversation = await add_conversation(rows)
    answers = await asyncio.gather(*(anna.client.delete(_path(conversation)) for _ in range(4)))
    assert sorted(one.status_code for one in answers) == [204, 404, 404, 404]


async def _found(person: Person, q: str) -> list[str]:
    response = await person.client.get("/api/v1/conversations", params={"q": q})
    assert response.status_code == 200, response.text
    return sorted(one["title"] for one in response.json()["data"])


@pytest.mark.req("CONV-6")
async def test_search_finds_words_of_titles_and_messages_in_four_languages(anna: Person, rows: Rows) -> None:
    for title, text in (
        ("Annual leave", "How many days do I have?"),
        ("Отпуск", "Сколько ДНЕЙ отпуска мне положено?"),
        ("Urlaub", "Wie viele Urlaubstage für Ärzte?"),
        ("年假", "我有多少天年假？"),
        ("Discounts 100%", "a_b and c\\d"),
    ):
        await add_message(rows, await add_conversation(rows, title=title), text)
    await add_message(rows, await add_conversation(rows, "hana", "Hers"), "annual leave отпуск 年假")
    expected = {
        "annual": ["Annual leave"],
        "DAYS": ["Annual leave"],
        "days have": ["Annual leave"],
        "have days": ["Annual leave"],
        "annual days": [],
        "дней ОТПУСКА": ["Отпуск"],
        "ärzte": ["Urlaub"],
        "a\u0308rzte": ["Urlaub"],
        "多少天": ["年假"],
        "年": ["年假"],
        "%": ["Discounts 100%"],
        "_": ["Discounts 100%"],
        "a_b": ["Discounts 100%"],
        "axb": [],
        "\\": ["Discounts 100%"],
        "'; DROP TABLE chat.messages; --": [],
        "nothing like this": [],
    }
    assert {q: await _found(anna, q) for q in expected} == expected
    assert len(await _found(anna, "  ")) == 5
    assert (await anna.client.get("/api/v1/conversations", params={"q": "x" * 201})).status_code == 422


@pytest.mark.req("CONV-6", "HTTP-7")
async def test_a_search_is_paged_like_the_list(anna: Person, rows: Rows) -> None:
    for at in range(5):
        await add_conversation(rows, title=f"Leave {at}")
        await add_conversation(rows, title=f"Other {at}")
    seen: list[str] = []
    query: dict[str, Any] = {"q": "leave", "limit": 2}
    while True:
        page = (await anna.client.get("/api/v1/conversations", params=query)).json()
        seen += [one["title"] for one in page["data"]]
        if not page["has_more"]:
            break
        query["after"] = page["last_id"]
    assert seen == [f"Leave {at}" for at in (4, 3, 2, 1, 0)]


async def test_a_long_thread_shows_its_newest_messages_and_pages_the_older_ones(anna: Person, rows: Rows) -> None:
    conversation = await add_conversation(rows)
    await rows.run(
        "INSERT INTO chat.messages (id, conversation_id, role, content) "
        "SELECT gen_random_uuid(), $1, 'user', 'Message ' || n FROM generate_series(1, 10000) AS n",
        UUID(conversation),
    )
    thread = (await anna.client.get(_path(conversation))).json()
    assert [one["content"] for one in thread["messages"]] == [f"Message {n}" for n in range(9901, 10001)]
    assert thread["has_more"] is True
    older = await anna.client.get(
        f"{_path(conversation)}/messages", params={"order": "asc", "before": thread["messages"][0]["id"], "limit": 50}
    )
    assert [one["content"] for one in older.json()["data"]] == [f"Message {n}" for n in range(9851, 9901)]
    assert older.json()["has_more"] is True


async def test_an_answer_that_its_owner_stopped_says_so_and_one_that_broke_off_does_not(
    anna: Person, model: ScriptedModel, rows: Rows
) -> None:
    answers = []
    for stops in (True, False):
        model.script(Reply([*say("Once upon a time. " * 10).steps, asyncio.Event()]))
        async with anna.asking("Tell me a story") as parts:
            started = await anext(parts)
            if stops:
                await anna.client.post(f"/api/v1/turns/{started['messageId']}/stop")
                assert [part["type"] async for part in parts][-1] == "abort"
        conversation = started["messageMetadata"]["conversation_id"]
        await rows.wait_for_count("chat.turns WHERE state = 'running'", 0)
        thread = (await anna.client.get(_path(conversation))).json()
        answers.append([(one["outcome"], one["stopped"]) for one in thread["messages"]][-1])
    assert answers == [("interrupted", True), ("interrupted", False)]
