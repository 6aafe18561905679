"""What an administrator changes while two fronts run: it rules the next turn of both."""

import asyncio
from typing import Any

import pytest

from services.chat_api.domain.runtime_rules import ModelList, RuntimeRules
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from shared.database.engine import make_engine
from tests.support.administrator import administrator
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import say
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.two_fronts import two_fronts
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest.mark.req("MODEL-1", "MODEL-2")
async def test_a_changed_allow_list_rules_the_next_turn_of_the_other_front(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts:
        await fronts.admin.allow_models("m-2", "m-3")
        fronts.model.script(say("Hello."))
        await fronts.anna.ask("Hi")
        assert fronts.model.requests[0].model == "m-2"
        models = (await fronts.anna.client.get("/api/v1/models", params={"order": "asc"})).json()
    assert [(one["id"], one["default"]) for one in models["data"]] == [("m-2", True), ("m-3", False)]


async def test_a_lost_notification_is_made_up_for_by_the_turn_itself(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts:
        await rows.run("DROP TRIGGER announce_settings ON chat.setting_revisions")
        await fronts.admin.allow_models("m-9")
        fronts.model.script(say("Hello."))
        await fronts.anna.ask("Hi")
    assert fronts.model.requests[0].model == "m-9"


@pytest.mark.parametrize("notification", ["heard", "lost"])
async def test_a_front_that_answers_nothing_learns_of_a_change_too(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows, notification: str
) -> None:
    watch = 3600 if notification == "heard" else 0.1
    async with two_fronts(database_url, nats_url, redis_url, store, settings_watch_every=watch) as fronts:
        if notification == "lost":
            await rows.run("DROP TRIGGER announce_settings ON chat.setting_revisions")
        else:
            listening = (
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'achilles-listen-achilles_settings'"
            )
            await eventually(lambda: rows.one(listening), until=lambda count: count == 2)
        await fronts.admin.allow_models("m-9")

        async def seen() -> list[str]:
            return [one["id"] for one in (await fronts.anna.client.get("/api/v1/models")).json()["data"]]

        await eventually(seen, until=lambda names: names == ["m-9"], within=10)


@pytest.mark.req("MODEL-5")
async def test_a_selected_model_that_was_removed_is_replaced_told_and_kept(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts:
        fronts.model.script(say("One."), say("Two."), say("Three."))
        first = await fronts.anna.ask("Hi", model="m-1")
        await fronts.admin.allow_models("m-2")
        second = await fronts.anna.ask("Hi", conversation_id=first.conversation_id)
        await fronts.admin.allow_models("m-2", "m-1")
        await fronts.anna.ask("Hi", conversation_id=first.conversation_id)
        thread = (await fronts.anna.client.get(f"/api/v1/conversations/{first.conversation_id}")).json()
    assert [one.model for one in fronts.model.requests] == ["m-1", "m-2", "m-1"]
    assert second.of("data-notice")[0]["data"]["code"] == "model_replaced"
    assert thread["selected_model"] == "m-1"
    assert [one["code"] for one in thread["messages"][3]["notices"]] == ["model_replaced", "conversational"]


@pytest.mark.req("MODEL-1")
async def test_a_model_outside_the_list_is_refused_and_nothing_is_written(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts:
        refused = await fronts.anna.client.post("/api/v1/chat", json={"message": "Hi", "model": "m-7"})
        assert (refused.status_code, refused.json()["code"]) == (422, "model_not_allowed")
    assert await rows.count("chat.conversations") == 0


@pytest.mark.req("MODEL-3")
async def test_the_stored_model_is_the_one_that_the_provider_reported(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts:
        fronts.model.script(say("Hello."))
        await fronts.anna.ask("Hi", model="m-1")
    assert await rows.one("SELECT selected_model FROM chat.conversations") == "m-1"
    assert await rows.one("SELECT model FROM chat.messages WHERE role = 'assistant'") == "scripted-1"


async def test_two_administrators_do_not_overwrite_each_other(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts, administrator(fronts.other) as second:
        seen = [(await admin.get("/models")).headers["etag"] for admin in (fronts.admin, second)]
        assert seen == ['"0"', '"0"']
        bodies = [{"default": name, "allowed": [name]} for name in ("m-a", "m-b")]
        answers = await asyncio.gather(
            fronts.admin.send("PUT", "/models", bodies[0], if_match='"0"'),
            second.send("PUT", "/models", bodies[1], if_match='"0"'),
        )
        assert sorted(answer.status_code for answer in answers) == [200, 412]
        lost = next(answer for answer in answers if answer.status_code == 412)
        assert lost.json()["code"] == "setting_changed"
        assert "olga" in lost.json()["detail"]
        after = await second.get("/models")
        assert after.headers["etag"] == '"1"'
        won = next(answer for answer in answers if answer.status_code == 200)
        assert after.json()["data"][0]["id"] == won.json()["data"][0]["id"]


@pytest.mark.parametrize(
    ("if_match", "status", "code"),
    [(None, 428, "precondition_required"), ("W/x", 400, "precondition_unreadable"), ('"7"', 412, "setting_changed")],
)
async def test_a_change_says_what_it_was_based_on(
    front: RunningFront, if_match: str | None, status: int, code: str
) -> None:
    async with administrator(front) as admin:
        body = {"default": "m-1", "allowed": ["m-1"]}
        answer = await admin.send("PUT", "/models", body, if_match=if_match)
        assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"default": "a", "allowed": []},
        {"default": "a", "allowed": ["b"]},
        {"default": "a", "allowed": ["a", "with space"]},
        {"default": "a", "allowed": ["a"], "more": 1},
        {"default": 7, "allowed": ["a"]},
        {"default": "a", "allowed": [f"m{at}" for at in range(101)]},
        {"default": "a" * 201, "allowed": ["a" * 201]},
        {"default": "a\x00", "allowed": ["a\x00"]},
    ],
)
async def test_a_list_that_makes_no_sense_is_refused(front: RunningFront, body: dict[str, Any]) -> None:
    async with administrator(front) as admin:
        answer = await admin.send("PUT", "/models", body)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
        assert (await admin.get("/models")).headers["etag"] == '"0"'


async def test_the_embedded_answerer_is_the_only_model_without_an_endpoint(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    async with running_front(settings) as front, administrator(front) as admin:
        refused = await admin.send("PUT", "/models", {"default": "gpt-x", "allowed": ["gpt-x"]})
        assert refused.status_code == 422
        assert "ACHILLES_MODEL_BASE_URL" in refused.json()["detail"]
        listed = (await admin.client.get("/api/v1/models")).json()
    assert listed == {
        "object": "list",
        "data": [{"id": "quotes", "object": "model", "default": True}],
        "first_id": "quotes",
        "last_id": "quotes",
        "has_more": False,
    }


async def test_every_change_is_kept_with_who_and_when(front: RunningFront) -> None:
    async with administrator(front) as admin:
        for name in ("m-1", "m-2"):
            await admin.allow_models(name)
        changes = (await admin.get("/changes", limit=1)).json()
        assert (changes["has_more"], len(changes["data"])) == (True, 1)
        newest = changes["data"][0]
        assert (newest["name"], newest["revision"], newest["changed_by"]) == ("models", 2, "olga")
        assert newest["value"] == {"default": "m-2", "allowed": ["m-2"]}
        older = (await admin.get("/changes", after=changes["last_id"])).json()["data"]
        assert [one["revision"] for one in older] == [1]


async def test_the_search_of_the_companys_knowledge_cannot_be_switched(front: RunningFront) -> None:
    async with administrator(front) as admin:
        tools = (await admin.get("/tools", order="asc")).json()["data"]
        assert [(one["id"], one["enabled"], one["available"]) for one in tools] == [
            ("search_knowledge", True, True),
            ("web_search", False, False),
        ]
        for tool, body, status in (
            ("search_knowledge", {"enabled": False}, 422),
            ("web_search", {"enabled": True}, 422),
            ("web_search", {"enabled": "yes"}, 422),
            ("no_such_tool", {"enabled": True}, 404),
        ):
            assert (await admin.send("PUT", f"/tools/{tool}", body)).status_code == status
        assert "ACHILLES_WEB_SEARCH_URL" in (await admin.send("PUT", "/tools/web_search", {"enabled": True})).text


async def test_rules_that_cannot_be_read_stay_as_they_were() -> None:
    known = RuntimeRules(ModelList(default="m-1", allowed=("m-1",)), "Prompt.", version=4)
    engine = make_engine("postgresql://nobody:x@127.0.0.1:9/none", application_name="test")
    runtime = RuntimeSettings(engine, known)
    await runtime.be_at(5)
    assert runtime.current is known
    await engine.dispose()


async def test_a_value_of_a_later_version_does_not_take_the_rules_away(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    """Nor the changes of other settings, nor from a front that starts afterwards and never knew better."""
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts:
        await fronts.admin.allow_models("m-2")
        await rows.run(
            "INSERT INTO chat.setting_revisions (name, revision, value, changed_by) "
            "VALUES ('models', 2, '{\"shape\": \"unknown\"}', 'x'), ('later', 1, '{}', 'x')"
        )
        fronts.model.script(say("Hello."))
        await fronts.anna.ask("Hi")
    async with two_fronts(database_url, nats_url, redis_url, store) as started_later:
        started_later.model.script(say("Hello."))
        await started_later.anna.ask("Hi")
    assert [fronts.model.requests[0].model, started_later.model.requests[0].model] == ["m-2", "m-2"]
