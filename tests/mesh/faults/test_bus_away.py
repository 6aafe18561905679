"""NATS stopped, and NATS frozen: nobody who asks, rates or opens a source notices."""

import time
from dataclasses import dataclass
from statistics import median

import pytest

from shared.embedded.nats import EmbeddedNats
from tests.support.front import Person
from tests.support.rows import Rows
from tests.support.running_mesh import MeshUrls, running_mesh
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_ROUNDS = 5
# Whoever waited for the bus would wait for two seconds: that is how long a publication waits for its reply.
_NOISE_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds from the question."""

    first_text: float
    end: float


@pytest.mark.req("MESH-1")
@pytest.mark.parametrize("fault", ["stopped", "frozen"])
async def test_a_bus_that_is_away_costs_nobody_anything(
    own_nats: EmbeddedNats,
    database_url: str,
    redis_url: str,
    store: StubKnowledgeStore,
    model: ScriptedModel,
    rows: Rows,
    fault: str,
) -> None:
    store.holds(_LEAVE)
    urls = MeshUrls(database_url, own_nats.url, redis_url, store.url)
    async with running_mesh(urls, model) as mesh, mesh.front.person() as anna:
        usual = [await _ask_rate_and_open(anna, model) for _ in range(_ROUNDS)]
        await rows.wait_for_empty_outbox()
        await _take_away(own_nats, fault)
        troubled = [await _ask_rate_and_open(anna, model) for _ in range(_ROUNDS)]
        assert await rows.count("signals.usage") == 2 * _ROUNDS, "nothing can have arrived meanwhile"
        assert await rows.count("mesh.outbox") > 0
        await _give_back(own_nats, fault)
        await rows.wait_for_empty_outbox(within=120)
    assert median(one.first_text for one in troubled) < median(one.first_text for one in usual) + _NOISE_SECONDS
    assert median(one.end for one in troubled) < median(one.end for one in usual) + _NOISE_SECONDS
    turns = 2 * _ROUNDS
    assert await rows.one("SELECT count(*) FROM chat.messages WHERE feedback = 1") == turns
    found = {table: await rows.count(table) for table in ("signals.accesses", "signals.usage", "traces.retrievals")}
    assert found == {"signals.accesses": 2 * turns, "signals.usage": 2 * turns, "traces.retrievals": turns}
    assert (await rows.count("traces.runs"), await rows.count("mesh.dead_letters")) == (2 * turns, 0)


async def _ask_rate_and_open(anna: Person, model: ScriptedModel) -> _Times:
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    asked = time.monotonic()
    first_text, kinds, message_id = 0.0, [], ""
    async with anna.asking("How much leave?") as parts:
        async for part in parts:
            kinds.append(part["type"])
            message_id = message_id or part["messageId"]
            if part["type"] == "text-delta" and not first_text:
                first_text = time.monotonic() - asked
    end = time.monotonic() - asked
    assert kinds[-1] == "finish"
    path = f"/api/v1/messages/{message_id}"
    rated = await anna.client.put(f"{path}/feedback", json={"value": 1})
    opened = await anna.client.post(f"{path}/citations/1/open", json={"click_id": "k"})
    assert (rated.status_code, opened.status_code) == (202, 202)
    return _Times(first_text, end)


async def _take_away(nats: EmbeddedNats, fault: str) -> None:
    if fault == "frozen":
        nats.freeze()
    else:
        await nats.stop()


async def _give_back(nats: EmbeddedNats, fault: str) -> None:
    if fault == "frozen":
        nats.thaw()
    else:
        await nats.start()
