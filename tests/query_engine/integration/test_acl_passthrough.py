"""Identity is passed on, never interpreted."""

import json
from typing import Any

import httpx
import pytest

from services.chat_api.domain.model_call import ToolCallDelta
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE
from shared.knowledge_contract import Withheld
from tests.support.administrator import administrator
from tests.support.api_document import UNKNOWN_ID, Operation, operations_of
from tests.support.front import Answer, Person, RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, call, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.web_search_engine import WebSearchEngine

pytestmark = [pytest.mark.integration, pytest.mark.p0]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."


@pytest.mark.req("ACL-1", "ACL-4")
async def test_every_search_carries_its_callers_identity(
    anna: Person, hana: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    for person in (anna, hana):
        model.script(search("leave"), say(f"{_LEAVE} [1]"))
        await person.ask("leave?")
    first, second = store.identities
    assert first is not None
    assert second is not None
    assert (first.user_id, first.groups) == ("anna", ("engineering", "staff"))
    assert (second.user_id, second.groups) == ("hana", ("hr", "staff"))


@pytest.mark.req("ACL-2")
async def test_an_identity_in_tool_arguments_is_ignored_and_noted(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    forged = json.dumps({"query": "leave", "identity": {"user_id": "hana", "groups": ["hr"]}})
    model.script(Reply([ToolCallDelta(0, SEARCH_KNOWLEDGE, forged)]), say(f"{_LEAVE} [1]"))
    await anna.ask("leave?")
    assert [one.user_id for one in store.identities if one] == ["anna"]
    trace = await rows.one("SELECT convert_from(payload, 'UTF8') FROM mesh.outbox WHERE subject LIKE '%retrieved'")
    assert "extra_arguments_ignored" in json.loads(trace)["notes"]


@pytest.mark.req("ACL-3")
async def test_what_the_store_returned_is_what_is_packed(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE, "Second page.", "Third page.")
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    await anna.ask("leave?")
    assert [one.record_id for one in model.requests[1].passages] == [hit.record_id for hit in store.hits]


@pytest.mark.req("ACL-6")
async def test_only_what_this_turn_was_given_can_be_cited(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, model: ScriptedModel
) -> None:
    store.holds(_LEAVE)
    law = "The legal minimum is 20 days for a five-day week."
    async with WebSearchEngine().running() as web:
        settings = make_front_settings(database_url, nats_url, redis_url, store.url, web_search_url=web.url)
        async with running_front(settings, model) as front, front.person() as anna:
            async with administrator(front) as admin:
                await admin.switch("web_search", on=True)
            web.finds(law)
            model.script(call(search_knowledge="leave", web_search="leave law"), say(f"{_LEAVE} [1] {law} [2]"))
            first = await anna.ask("leave?")
            web.rows = []
            lies = f"{_LEAVE} [1] {law} [2] {law} (https://web.example/1) {_LEAVE} [3]"
            model.script(call(search_knowledge="leave again", web_search="leave law"), say(lies))
            second = await anna.ask("leave?", conversation_id=first.conversation_id)
    assert [one["url"] for one in first.citations] == ["/sources/handbook/page-1.md", "https://web.example/1"]
    assert [one["url"] for one in second.citations] == ["/sources/handbook/page-1.md"]
    assert ("web.example" in second.text, "[2]" in second.text, "[3]" in second.text) == (False, False, False)
    assert second.of("source-url") == []


@pytest.mark.req("CACHE-1", "CACHE-4", "TURN-3")
async def test_the_same_query_of_the_same_person_comes_from_the_cache(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    for query in ("leave", "leave", "Leave"):
        model.script(search(query), say(f"{_LEAVE} [1]"))
        assert (await anna.ask("leave?")).outcome == "grounded"
    assert [one.query for one in store.searches] == ["leave", "Leave"]


@pytest.mark.req("CACHE-5")
async def test_a_changed_store_is_asked_again(anna: Person, model: ScriptedModel, store: StubKnowledgeStore) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"), search("leave"))
    await anna.ask("leave?")
    store.hits, store.version = (), 2
    assert (await anna.ask("leave?")).outcome == "not_found"


@pytest.mark.req("ACL-8")
@pytest.mark.parametrize("hits", [(), (_LEAVE,)], ids=["withheld", "mixed"])
async def test_a_hidden_record_without_a_matched_author_is_hinted_at_without_a_contact(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, hits: tuple[str, ...]
) -> None:
    store.holds(*hits)
    store.withheld = (
        Withheld(source_system="HR confidential"),
        Withheld(source_system="Sales", contact="eva@x.example"),
    )
    model.script(search("salary bands"), *([say(f"{_LEAVE} [1]")] if hits else []))
    answer = await anna.ask("What are the salary bands?")
    assert answer.outcome == ("partial" if hits else "withheld")
    assert answer.hint is not None
    assert answer.hint["withheld"] == [
        {"source_system": "HR confidential"},
        {"source_system": "Sales", "contact": "eva@x.example"},
    ]
    assert "HR confidential" in answer.hint["text"]
    for placeholder in ("None", "null", "unknown", "{", "n/a", "@x.example in HR"):
        assert placeholder not in answer.hint["text"]
    assert answer.hint["text"].count("@") == 1


# What an operation on somebody's conversation or message has to be sent, so that it comes to the question whose it is.
_BODIES: dict[str, Any] = {
    "PUT /api/v1/messages/{message_id}/feedback": {"value": 1},
    "PATCH /api/v1/conversations/{conversation_id}": {"title": "Another name"},
    "POST /api/v1/messages/{message_id}/citations/{n}/open": {"click_id": "c1"},
}
_OWNED = ("conversation_id", "message_id")


@pytest.mark.req("ACL-9")
async def test_somebody_elses_conversation_and_message_are_a_404_byte_identical_to_unknown_on_every_operation(
    front: RunningFront, anna: Person, hana: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    theirs = await hana.ask("leave?")
    owned = [one for one in await operations_of(anna.client) if set(one.parameters) & set(_OWNED)]
    assert len(owned) >= 4
    for operation in owned:
        hidden = await _send(anna.client, operation, theirs)
        unknown = await _send(anna.client, operation, None)
        assert (hidden.status_code, unknown.status_code) == (404, 404), (operation.name, unknown.text)
        assert hidden.content == unknown.content, operation.name
        assert _without_date(hidden) == _without_date(unknown), operation.name
    for conversation_id in (theirs.conversation_id, UNKNOWN_ID):
        body = {"message": "Let me in", "conversation_id": conversation_id}
        response = await anna.client.post("/api/v1/chat", json=body, headers={"x-request-id": "r1"})
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert len(model.requests) == 2
    thread = (await hana.client.get(f"/api/v1/conversations/{theirs.conversation_id}")).json()
    assert [message["feedback"] for message in thread["messages"]] == [None, None]


async def _send(client: httpx.AsyncClient, operation: Operation, answer: Answer | None) -> httpx.Response:
    ids = {"conversation_id": answer.conversation_id, "message_id": answer.message_id} if answer else {}
    assert not operation.has_body or operation.name in _BODIES, f"say in _BODIES what {operation.name} is sent"
    return await client.request(
        operation.method,
        operation.address(**ids),
        json=_BODIES.get(operation.name),
        headers={"x-request-id": "r1"},
    )


def _without_date(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "date"}


@pytest.mark.req("ACL-5")
async def test_without_anonymous_access_nobody_unknown_gets_in(front: RunningFront, model: ScriptedModel) -> None:
    async with front.anybody() as client:
        response = await client.post("/api/v1/chat", json={"message": "leave?"})
        assert (response.status_code, response.json()["code"]) == (401, "sign_in_required")
        assert (await client.post("/api/v1/session/anonymous")).status_code == 404
    assert model.requests == []


@pytest.mark.req("ACL-5")
async def test_the_absence_of_an_identity_is_passed_on_and_is_not_an_identity_without_rights(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, model: ScriptedModel, rows: Rows
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, anonymous_access=True)
    store.holds(_LEAVE)
    model.script(*(reply for _ in range(2) for reply in (search("leave"), say(f"{_LEAVE} [1]"))))
    async with running_front(settings, model) as front, front.anybody() as client, front.anybody() as another:
        answer = await Person(client).ask("leave?")
        assert answer.outcome == "grounded"
        assert store.identities == [None]
        assert "identity" not in json.loads(store.last_body)
        assert client.cookies["achilles_session"]
        mine = f"/api/v1/conversations/{answer.conversation_id}"
        assert (await client.get(mine)).status_code == 200
        assert (await another.get(mine)).status_code == 404, "somebody else who is unknown is still somebody else"
        await Person(another).ask("leave?")
        assert (await another.get(mine)).status_code == 404
        for path in ("/api/v1/session", "/api/v1/api-keys"):
            async with front.anybody() as unknown:
                assert (await unknown.get(path)).status_code == 401
        assert (await client.post("/api/v1/api-keys", json={"name": "x"})).status_code == 401
    owners = {row["owner_id"] for row in await rows.all("SELECT owner_id FROM chat.conversations")}
    used_by = await rows.all(
        "SELECT convert_from(payload, 'UTF8')::jsonb ->> 'user_id' AS who FROM mesh.outbox WHERE subject LIKE '%usage'"
    )
    assert len(owners) == 2
    assert all(owner.startswith("anonymous:") for owner in owners)
    assert {row["who"] for row in used_by} == owners


@pytest.mark.req("ACL-5")
async def test_an_anonymous_session_ends_where_anonymous_access_ends(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, front: RunningFront
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, anonymous_access=True)
    async with running_front(settings, ScriptedModel()) as open_front, open_front.anybody() as client:
        session = (await client.post("/api/v1/session/anonymous")).json()
        assert session["anonymous"] is True
        assert session["user"]["groups"] == []
        assert (await client.get("/api/v1/session")).json() == session
        cookie = client.cookies["achilles_session"]
    async with front.anybody() as client:
        response = await client.get("/api/v1/conversations", headers={"cookie": f"achilles_session={cookie}"})
        assert response.status_code == 401
