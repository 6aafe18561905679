"""Reading one's own conversations."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."


@pytest.mark.req("CONV-1", "BOUND-3")
async def test_thread_holds_messages_in_order_with_their_citations(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(say("Hello."), search("leave"), say(f"{_LEAVE} [1]"))
    first = await anna.ask("Hi")
    await anna.ask("How much leave?", conversation_id=first.conversation_id)
    response = await anna.client.get(f"/api/v1/conversations/{first.conversation_id}")
    assert response.status_code == 200
    messages = response.json()["messages"]
    assert [(one["role"], one["content"]) for one in messages] == [
        ("user", "Hi"),
        ("assistant", "Hello."),
        ("user", "How much leave?"),
        ("assistant", f"{_LEAVE} [1]"),
    ]
    assert [len(one["citations"]) for one in messages] == [0, 0, 0, 1]


@pytest.mark.req("CONV-2", "CONV-3", "ACL-9")
@pytest.mark.parametrize("unknown", ["0b5c2f4e-7f0a-4f0e-9a63-0f6c6f0d9a51", "no-uuid", "1", "%00", "a" * 60])
async def test_unknown_and_somebody_elses_are_the_same_404(
    front: RunningFront, anna: Person, hana: Person, model: ScriptedModel, unknown: str
) -> None:
    model.script(say("Hello."))
    theirs = (await hana.ask("Hi")).conversation_id
    request_id = {"x-request-id": "r1"}
    missing = await anna.client.get(f"/api/v1/conversations/{unknown}", headers=request_id)
    hidden = await anna.client.get(f"/api/v1/conversations/{theirs}", headers=request_id)
    assert (missing.status_code, hidden.status_code) == (404, 404)
    assert missing.content == hidden.content
    with pytest.raises(httpx.HTTPStatusError) as refused:
        await anna.ask("Let me in", conversation_id=theirs)
    assert refused.value.response.status_code == 404


@pytest.mark.req("CONV-3")
async def test_without_a_session_everything_is_401(front: RunningFront) -> None:
    async with front.anybody() as client:
        for method, path in (
            ("GET", "/api/v1/conversations"),
            ("GET", f"/api/v1/conversations/{uuid4()}"),
            ("GET", "/api/v1/session"),
            ("POST", f"/api/v1/turns/{uuid4()}/stop"),
        ):
            response = await client.request(method, path)
            assert (response.status_code, response.headers["content-type"]) == (401, "application/problem+json"), path


@pytest.mark.req("CONV-5", "BOUND-2")
async def test_no_conversation_exists_before_its_first_message(anna: Person, rows: Rows) -> None:
    assert (await anna.client.post("/api/v1/conversations", json={})).status_code == 405
    assert await rows.count("chat.conversations") == 0


@pytest.mark.req("BOUND-1", "TURN-2")
async def test_each_conversation_sees_its_own_history_only(anna: Person, model: ScriptedModel) -> None:
    model.script(say("One."), say("Two."), say("Three."))
    first = await anna.ask("First")
    other = await anna.ask("Other")
    await anna.ask("Second", conversation_id=first.conversation_id)
    assert other.conversation_id != first.conversation_id
    assert [message.content for message in model.requests[2].messages[1:]] == ["First", "One.", "Second"]


@pytest.mark.req("HTTP-7")
async def test_the_list_is_paged_by_keyset_in_both_directions(anna: Person, hana: Person, model: ScriptedModel) -> None:
    model.script(*(say("Hello.") for _ in range(6)))
    made = [(await anna.ask(f"Question {at}")).conversation_id for at in range(5)]
    await hana.ask("Not hers")
    newest_first = made[::-1]

    async def page(**query: Any) -> dict[str, Any]:
        response = await anna.client.get("/api/v1/conversations", params={"limit": 2, **query})
        response.raise_for_status()
        body: dict[str, Any] = response.json()
        return body

    first = await page()
    assert ([one["id"] for one in first["data"]], first["has_more"]) == (newest_first[:2], True)
    model.script(say("Hello."))
    inserted = (await anna.ask("In between")).conversation_id
    second = await page(after=first["last_id"])
    assert [one["id"] for one in second["data"]] == newest_first[2:4]
    third = await page(after=second["last_id"])
    assert ([one["id"] for one in third["data"]], third["has_more"]) == (newest_first[4:], False)
    back = await page(before=third["first_id"])
    assert [one["id"] for one in back["data"]] == newest_first[2:4]
    assert [one["id"] for one in (await page(order="asc"))["data"]] == made[:2]
    newest = await page()
    assert newest["data"][0]["id"] == inserted
    assert newest["first_id"].startswith(inserted)
    by_bare_id = await page(after=inserted)
    assert [one["id"] for one in by_bare_id["data"]] == newest_first[:2]
    for wrong in ({"after": str(uuid4())}, {"after": "x"}, {"after": made[0], "before": made[1]}):
        response = await anna.client.get("/api/v1/conversations", params=wrong)
        assert response.status_code == 400
    assert (await anna.client.get("/api/v1/conversations", params={"limit": 101})).status_code == 422


@pytest.mark.req("TURN-4")
async def test_history_survives_a_restart_of_the_front(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    before, after = ScriptedModel(say("One.")), ScriptedModel(say("Two."))
    async with running_front(settings, before) as front, front.person() as anna:
        conversation = (await anna.ask("First")).conversation_id
    async with running_front(settings, after) as front, front.person() as anna:
        await anna.ask("Second", conversation_id=conversation)
    assert [message.content for message in after.requests[0].messages[1:]] == ["First", "One.", "Second"]
