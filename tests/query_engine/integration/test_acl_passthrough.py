"""Identity is passed on, never interpreted."""

import json

import pytest

from services.chat_api.domain.model_call import ToolCallDelta
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE
from shared.knowledge_contract import Withheld
from tests.support.administrator import administrator
from tests.support.front import Person, make_front_settings, running_front
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
