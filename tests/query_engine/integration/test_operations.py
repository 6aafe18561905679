"""What those who run the front read: figures, and one trace through every hop."""

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]
TRACE = "0af7651916cd43dd8448eb211c80319c"


async def _figures(client: httpx.AsyncClient) -> dict[str, float]:
    response = await client.get("/metrics")
    response.raise_for_status()
    return {
        "".join([sample.name, *(f"[{value}]" for value in sample.labels.values())]): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


@pytest.mark.req("HTTP-5")
async def test_metrics_count_turns_by_outcome_and_hold_no_content(
    front: RunningFront, anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds("Leave is 28 days a year.")
    model.script(search("How much leave?"), say("Leave is 28 days a year [1]."), say("Hello there."))
    await anna.ask("How much leave do I get?")
    await anna.ask("Hi")
    async with front.anybody() as client:
        figures = await _figures(client)
        text = (await client.get("/metrics")).text
    assert figures["achilles_turns_started_total"] == 2
    assert figures["achilles_turns_ended_total[grounded]"] == 1
    assert figures["achilles_turns_ended_total[conversational]"] == 1
    assert figures["achilles_turn_first_text_seconds_count"] == 2
    assert figures["achilles_model_tokens_total[input]"] == 300
    assert figures["achilles_turns_running"] == 0
    assert "anna" not in text
    assert "eave" not in text


async def test_a_failed_turn_is_counted_with_its_code(
    front: RunningFront, anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.failing = True
    model.script(search("leave"))
    await anna.ask("How much leave?")
    async with front.anybody() as client:
        figures = await _figures(client)
    assert figures["achilles_turn_failures_total[knowledge_unavailable]"] == 1


async def test_metrics_behind_a_token_are_read_only_with_it(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, metrics_token="figures")
    async with running_front(settings, ScriptedModel()) as front, front.anybody() as client:
        refused = [
            (await client.get("/metrics", headers=headers)).status_code
            for headers in ({}, {"authorization": "Bearer wrong"})
        ]
        read = await client.get("/metrics", headers={"authorization": "Bearer figures"})
    assert refused == [401, 401]
    assert read.status_code == 200


@pytest.mark.req("HTTP-8")
async def test_a_callers_trace_reaches_the_store_and_every_event(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds("Leave is 28 days a year.")
    model.script(search("How much leave?"), say("Leave is 28 days a year [1]."))
    anna.client.headers["traceparent"] = f"00-{TRACE}-b7ad6b7169203331-01"
    await anna.ask("How much leave do I get?")
    sent = await rows.all("SELECT headers->>'traceparent' AS traceparent FROM mesh.outbox")
    assert len(sent) >= 5
    assert {row["traceparent"].split("-")[1] for row in sent} == {TRACE}
    assert [one.split("-")[1] for one in store.traceparents] == [TRACE]
