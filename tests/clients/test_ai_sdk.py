"""The `ai` client of Vercel reads every kind of turn, and validates every chunk while it does."""

import asyncio
from typing import Any

import pytest

from services.chat_api.adapters.model_faults import ModelUnavailableError
from services.chat_api.domain.model_call import TextDelta
from shared.knowledge_contract import Withheld
from tests.clients.node_scripts import NodeScripts
from tests.support.front import Person, RunningFront
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."


class Reader:
    """Asks one thing through the JavaScript client."""

    def __init__(self, node: NodeScripts, front: RunningFront, cookie: str) -> None:
        self._node = node
        self._front = front
        self._cookie = cookie

    async def read(self, message: str, *, leave: bool = False, **more: Any) -> dict[str, Any]:
        body = {"message": message, **more}
        task = {"url": self._front.url, "cookie": self._cookie, "body": body, "leave": leave}
        return await self._node.run("read_chat.mjs", task)

    async def complete(self, question: str) -> dict[str, Any]:
        task = {"url": self._front.url, "cookie": self._cookie, "question": question}
        return await self._node.run("complete.mjs", task)


@pytest.fixture
def reader(node: NodeScripts, front: RunningFront, cookie: str) -> Reader:
    return Reader(node, front, cookie)


def _parts(read: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part for part in read["message"]["parts"] if part["type"] == kind]


@pytest.mark.req("HTTP-1")
@pytest.mark.parametrize("outcome", ["conversational", "grounded", "partial", "withheld", "not_found"])
async def test_a_turn_is_read_without_a_validation_error(
    reader: Reader, model: ScriptedModel, store: StubKnowledgeStore, outcome: str
) -> None:
    if outcome in ("grounded", "partial"):
        store.holds(_LEAVE)
    if outcome in ("partial", "withheld"):
        store.withheld = (Withheld(source_system="HR", contact="hana@halden.example"), Withheld(source_system="IT"))
    model.script(*((say("Hello."),) if outcome == "conversational" else (search("leave"), say(f"{_LEAVE} [1]"))))
    read = await reader.read("How much leave do I have?")
    assert read["errors"] == []
    assert read["types"][-1] == "finish"
    assert read["message"]["metadata"]["outcome"] == outcome
    assert [part["state"] for part in _parts(read, "text")] == ["done"]
    cited = 1 if outcome in ("grounded", "partial") else 0
    assert len(_parts(read, "source-document")) == len(_parts(read, "data-citation")) == cited
    assert len(_parts(read, "data-hint")) == (1 if outcome in ("partial", "withheld") else 0)


@pytest.mark.req("HTTP-1")
async def test_a_failed_turn_is_read_as_an_error_of_the_turn(
    reader: Reader, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), Reply([TextDelta(f"{_LEAVE} [1] And then"), ModelUnavailableError()]))
    read = await reader.read("leave?")
    assert [error["name"] for error in read["errors"]] == ["Error"]
    assert "did not answer properly" in read["errors"][0]["message"]
    assert read["types"][-2:] == ["data-error", "error"]
    assert _parts(read, "text")[0]["text"].startswith(_LEAVE)


@pytest.mark.req("HTTP-1")
async def test_a_stopped_turn_is_read_as_an_abort(
    reader: Reader, anna: Person, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), Reply([TextDelta(f"{_LEAVE} [1] Next comes"), asyncio.Event()]))
    reading = asyncio.create_task(reader.read("leave?"))
    message_id = await eventually(lambda: rows.one("SELECT message_id FROM chat.turns"))
    await eventually(lambda: _called(model), until=lambda calls: calls == 2)
    assert (await anna.client.post(f"/api/v1/turns/{message_id}/stop")).status_code == 202
    read = await reading
    assert read["errors"] == []
    assert read["types"][-1] == "abort"


async def _called(model: ScriptedModel) -> int:
    return len(model.requests)


@pytest.mark.req("HTTP-1")
async def test_a_client_that_aborts_ends_its_turn(
    reader: Reader, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), Reply([TextDelta(f"{_LEAVE} [1] Next comes"), asyncio.Event()]))
    read = await reader.read("leave?", leave=True)
    assert [error["name"] for error in read["errors"]] in ([], ["AbortError"])
    assert await eventually(lambda: rows.one("SELECT outcome FROM chat.turns")) == "interrupted"


@pytest.mark.req("HTTP-1")
async def test_a_turn_told_again_reads_as_the_first_time(
    reader: Reader, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    store.withheld = (Withheld(source_system="HR"),)
    model.script(search("leave"), say(f"{_LEAVE} [1]"), Reply([ModelUnavailableError()]))
    first = await reader.read("leave?", client_message_id="c1")
    again = await reader.read("leave?", client_message_id="c1")
    assert again["errors"] == []
    assert again["message"]["id"] == first["message"]["id"]
    for kind in ("text", "source-document", "data-citation", "data-hint"):
        assert _parts(again, kind) == _parts(first, kind)
    await reader.read("Anything?", client_message_id="c2")
    failed = await reader.read("Anything?", client_message_id="c2")
    assert [error["name"] for error in failed["errors"]] == ["Error"]


@pytest.mark.req("HTTP-2")
async def test_the_openai_compatible_provider_reads_the_same_turn(
    reader: Reader, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"), Reply([ModelUnavailableError()]))
    read = await reader.complete("leave?")
    assert (read["text"], read["finishReason"], read["error"]) == (f"{_LEAVE} [1]", "stop", None)
    assert (read["usage"]["inputTokens"], read["usage"]["outputTokens"]) == (200, 40)
    assert "did not answer properly" in (await reader.complete("leave?"))["error"]
