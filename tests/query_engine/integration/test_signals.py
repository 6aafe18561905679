"""Ratings and clicks: accepted by the front, waiting in the ledger."""

from uuid import uuid4

import pytest

from tests.support.front import Answer, Person
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_KINDS = "SELECT convert_from(payload, 'UTF8')::jsonb ->> 'kind' FROM mesh.outbox WHERE subject LIKE '%accessed'"


async def _grounded(person: Person, model: ScriptedModel, store: StubKnowledgeStore) -> Answer:
    store.holds(_LEAVE, "Sick leave is reported to the manager before ten in the morning.")
    model.script(search("leave"), say(f"{_LEAVE} [1] {_LEAVE} [1]"))
    return await person.ask("leave?")


@pytest.mark.req("ACCESS-1", "ACCESS-3")
async def test_one_cited_signal_per_record_and_none_for_what_was_only_retrieved(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    await _grounded(anna, model, store)
    signals = await rows.all(
        "SELECT convert_from(payload, 'UTF8')::jsonb ->> 'record_id' AS record FROM mesh.outbox "
        "WHERE subject LIKE '%accessed'"
    )
    assert [signal["record"] for signal in signals] == ["handbook/page-1.md"]


@pytest.mark.req("ACCESS-2")
async def test_a_click_is_a_signal_of_its_own_and_the_same_click_counts_once(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    answer = await _grounded(anna, model, store)
    path = f"/api/v1/messages/{answer.message_id}/citations/1/open"
    for click_id in ("k1", "k1", "k2"):
        response = await anna.client.post(path, json={"click_id": click_id})
        assert (response.status_code, response.json()) == (202, {"url": "/sources/handbook/page-1.md"})
    kinds = [row["?column?"] for row in await rows.all(_KINDS)]
    assert sorted(kinds) == ["cited", "clicked", "clicked"]


@pytest.mark.req("ACCESS-5")
async def test_a_click_on_what_is_not_cited_or_not_ones_own_is_refused(
    anna: Person, hana: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    answer = await _grounded(anna, model, store)
    body = {"click_id": "k1"}
    not_cited = await anna.client.post(f"/api/v1/messages/{answer.message_id}/citations/2/open", json=body)
    not_own = await hana.client.post(f"/api/v1/messages/{answer.message_id}/citations/1/open", json=body)
    unknown = await anna.client.post(f"/api/v1/messages/{uuid4()}/citations/1/open", json=body)
    assert [one.status_code for one in (not_cited, not_own, unknown)] == [404, 404, 404]
    assert [row["?column?"] for row in await rows.all(_KINDS)] == ["cited"]


@pytest.mark.req("FEEDBACK-6")
async def test_ratings_are_accepted_for_ones_own_answers_only(
    anna: Person, hana: Person, model: ScriptedModel, rows: Rows
) -> None:
    model.script(say("Hello."))
    answer = await anna.ask("Hi")
    path = f"/api/v1/messages/{answer.message_id}/feedback"
    first = await anna.client.put(path, json={"value": 1})
    second = await anna.client.put(path, json={"value": None})
    assert (first.status_code, second.status_code) == (202, 202)
    assert second.json()["revision"] > first.json()["revision"]
    assert (await hana.client.put(path, json={"value": 1})).status_code == 404
    question = await rows.one("SELECT id FROM chat.messages WHERE role = 'user'")
    assert (await anna.client.put(f"/api/v1/messages/{question}/feedback", json={"value": 1})).status_code == 404
    for wrong in ({"value": 5}, {"value": True}, {"value": "1"}, {}, {"value": 1, "more": 2}):
        assert (await anna.client.put(path, json=wrong)).status_code == 422
    assert await rows.one("SELECT count(*) FROM mesh.outbox WHERE subject LIKE '%rated'") == 2
