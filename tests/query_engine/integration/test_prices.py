"""What calls cost: set by an administrator while two fronts run, written down with every call, unknown if unknown."""

import asyncio
from typing import Any

import pytest

from services.chat_api.adapters.model_faults import ModelRefusedError, ModelUnavailableError
from services.chat_api.domain.model_call import ModelUsage, TextDelta
from tests.support.administrator import administrator
from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, say
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.two_fronts import two_fronts
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_PRICE = {
    "model": "scripted-1",
    "currency": "EUR",
    "input": "2",
    "cached_input": "0.5",
    "cache_write": "2.5",
    "output": "8",
}
_USAGE = ModelUsage(1_000, 50, 400, 100, 20)


async def _told(rows: Rows, subject: str) -> list[dict[str, Any]]:
    """The figures of the events that wait in the ledger."""
    return await rows.all(
        "SELECT e ->> 'cost' AS cost, e ->> 'currency' AS currency, (e -> 'input_tokens')::int AS input, "
        "(e -> 'cache_write_tokens')::int AS written, (e -> 'output_tokens')::int AS output, "
        "(e -> 'reasoning_tokens')::int AS reasoning, (e -> 'estimated')::bool AS estimated "
        "FROM (SELECT convert_from(payload, 'UTF8')::jsonb AS e FROM mesh.outbox WHERE subject LIKE $1) AS told",
        f"%.{subject}",
    )


@pytest.mark.req("LOOP-26")
async def test_a_price_that_was_set_holds_for_the_next_turn_of_the_other_front(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    async with two_fronts(database_url, nats_url, redis_url, store) as fronts:
        (await fronts.admin.send("PUT", "/prices", {"prices": [_PRICE]})).raise_for_status()
        fronts.model.script(Reply([TextDelta("Hello.")], _USAGE))
        await fronts.anna.ask("Hi")
        usage, runs = await _told(rows, "usage"), await _told(rows, "run")
    assert [(one["cost"], one["currency"]) for one in (*usage, *runs)] == [("0.0018500000", "EUR")] * 2
    assert (usage[0]["written"], usage[0]["reasoning"], usage[0]["estimated"]) == (100, 20, False)


@pytest.mark.req("LOOP-26")
async def test_a_price_that_is_not_known_is_left_open(anna: Person, model: ScriptedModel, rows: Rows) -> None:
    model.script(say("Hello."))
    await anna.ask("Hi")
    assert [(one["cost"], one["currency"]) for one in await _told(rows, "usage")] == [(None, None)]


@pytest.mark.req("LOOP-26")
async def test_what_was_broken_off_is_counted_and_costs_something(
    front: RunningFront, anna: Person, model: ScriptedModel, rows: Rows
) -> None:
    async with administrator(front) as admin:
        # A stream that breaks off never says which model answered.
        body = {"prices": [{**_PRICE, "model": "quotes"}]}
        (await admin.send("PUT", "/prices", body)).raise_for_status()
    never = asyncio.Event()
    model.script(Reply([TextDelta("Hello, here is a first part. "), never]))
    async with anna.asking("Hi") as parts:
        async for part in parts:
            if part["type"] == "text-delta":
                break
    [usage] = await eventually(lambda: _told(rows, "usage"))
    assert usage["estimated"]
    assert usage["input"] > 0 < usage["output"]
    assert float(usage["cost"]) > 0


@pytest.mark.parametrize("fault", [ModelRefusedError(), ModelUnavailableError()], ids=lambda fault: fault.code)
async def test_a_call_that_the_provider_did_not_take_on_used_nothing(
    anna: Person, model: ScriptedModel, rows: Rows, fault: Exception
) -> None:
    model.script(Reply([fault]))
    await anna.ask("Hi")
    [usage] = await _told(rows, "usage")
    assert (usage["input"], usage["output"], usage["estimated"]) == (0, 0, True)


async def test_an_administrator_sees_whose_price_holds(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, models="m-1")
    async with running_front(settings, ScriptedModel()) as front, administrator(front) as admin:
        before = await admin.get("/prices", order="asc")
        assert before.headers["etag"] == '"0"'
        assert [(one["id"], one["source"], one["input"]) for one in before.json()["data"]] == [
            ("quotes", "unknown", None),
            ("m-1", "unknown", None),
        ]
        changed = await admin.send("PUT", "/prices", {"prices": [_PRICE]}, if_match='"0"')
        assert (changed.status_code, changed.headers["etag"]) == (200, '"1"')
        after = (await admin.get("/prices", order="asc")).json()["data"]
        assert after == changed.json()["data"]
        assert after[-1] == {
            "id": "scripted-1",
            "object": "model_price",
            "source": "override",
            "currency": "EUR",
            "input": "2",
            "cached_input": "0.5",
            "cache_write": "2.5",
            "output": "8",
            "longer_inputs": False,
        }
        seen_before = await admin.send("PUT", "/prices", {"prices": []}, if_match='"0"')
        assert (seen_before.status_code, seen_before.json()["code"]) == (412, "setting_changed")


async def test_the_embedded_answerer_is_shown_to_cost_nothing(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    async with running_front(settings) as front:
        async with administrator(front) as admin:
            [price] = (await admin.get("/prices")).json()["data"]
        async with front.person("anna") as anna:
            await anna.ask("Hello")
    assert (price["id"], price["source"], price["input"], price["output"]) == ("quotes", "embedded", "0", "0")
    assert [(one["cost"], one["currency"]) for one in await _told(rows, "usage")] == [("0", "USD")]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"prices": None},
        {"prices": [{"model": "m"}]},
        {"prices": [{**_PRICE, "input": "-1"}]},
        {"prices": [{**_PRICE, "input": "a lot"}]},
        {"prices": [{**_PRICE, "input": "NaN"}]},
        {"prices": [{**_PRICE, "output": "1e9"}]},
        {"prices": [{**_PRICE, "output": "0.0000000001"}]},
        {"prices": [{**_PRICE, "currency": "euro"}]},
        {"prices": [{**_PRICE, "model": "with space"}]},
        {"prices": [{**_PRICE, "more": 1}]},
        {"prices": [_PRICE, _PRICE]},
        {"prices": [{**_PRICE, "model": f"m-{number}"} for number in range(201)]},
    ],
    ids=range(13),
)
async def test_a_price_that_makes_no_sense_is_refused(front: RunningFront, wrong: dict[str, Any]) -> None:
    async with administrator(front) as admin:
        answer = await admin.send("PUT", "/prices", wrong)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
        assert (await admin.get("/prices")).headers["etag"] == '"0"'
