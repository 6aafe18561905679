"""PostgreSQL away in the middle of a turn: bounded, said clearly, and mended by asking again."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from services.chat_api.domain.model_call import TextDelta
from tests.support.front import Person, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, search
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.tcp_proxy import TcpProxy
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_FINALISE_SECONDS = 2
# A machine that does much else at once; without a bound it would be a minute and more.
_MARGIN_SECONDS = 8


@pytest_asyncio.fixture
async def proxy(database_url: str) -> AsyncIterator[TcpProxy]:
    proxy = TcpProxy(database_url)
    await proxy.start()
    yield proxy
    await proxy.stop()


@pytest_asyncio.fixture
async def gate() -> asyncio.Event:
    """The model's answer waits for it."""
    return asyncio.Event()


@pytest_asyncio.fixture
async def anna(
    proxy: TcpProxy,
    gate: asyncio.Event,
    database_url: str,
    nats_url: str,
    redis_url: str,
    store: StubKnowledgeStore,
    model: ScriptedModel,
) -> AsyncIterator[Person]:
    store.holds(_LEAVE)
    model.script(search("leave"), Reply([gate, TextDelta(f"{_LEAVE} [1]")]))
    settings = make_front_settings(
        proxy.through(database_url), nats_url, redis_url, store.url, finalise_deadline=_FINALISE_SECONDS
    )
    async with running_front(settings, model) as front, front.person() as person:
        yield person


@pytest.mark.req("MESH-9")
@pytest.mark.parametrize("fault", ["cut", "silent"])
async def test_a_turn_that_cannot_be_saved_says_so_and_is_told_again(
    anna: Person, proxy: TcpProxy, gate: asyncio.Event, model: ScriptedModel, rows: Rows, fault: str
) -> None:
    seen: list[dict[str, Any]] = []
    lost_at = 0.0
    async with anna.asking("leave?", client_message_id="c1") as parts:
        async for part in parts:
            seen.append(part)
            if part["type"] == "data-status" and part["data"]["stage"] == "answering":
                proxy.cut() if fault == "cut" else proxy.mute()
                lost_at = time.monotonic()
                gate.set()
    assert time.monotonic() - lost_at < _FINALISE_SECONDS + _MARGIN_SECONDS
    error = next(part["data"] for part in seen if part["type"] == "data-error")
    assert error == {"code": "not_saved", "retryable": True}
    text = next(part["errorText"] for part in seen if part["type"] == "error")
    assert "saved" in text
    assert seen[-1]["type"] == "error"
    assert await rows.one("SELECT state FROM chat.turns") == "running"
    proxy.mend()
    answer = await eventually(lambda: _ask_again(anna), within=60)
    assert answer is not None
    assert (answer.outcome, answer.text) == ("grounded", f"{_LEAVE} [1]")
    assert len(model.requests) == 2, "nothing was asked of the model twice"
    assert await rows.count("chat.messages") == 2


async def _ask_again(anna: Person) -> Any:
    """None while the turn waits to be stored."""
    try:
        return await anna.ask("leave?", client_message_id="c1")
    except httpx.HTTPStatusError as refused:
        if refused.response.status_code not in (409, 503):
            raise
        return None


@pytest.mark.req("MESH-9")
async def test_a_question_that_cannot_be_opened_is_refused_in_time_and_changes_nothing(
    anna: Person, proxy: TcpProxy, model: ScriptedModel, rows: Rows
) -> None:
    proxy.cut()
    asked_at = time.monotonic()
    response = await anna.client.post("/api/v1/chat", json={"message": "leave?", "client_message_id": "c1"})
    assert time.monotonic() - asked_at < _FINALISE_SECONDS + _MARGIN_SECONDS
    assert (response.status_code, response.json()["code"]) == (503, "storage_unavailable")
    assert "retry-after" in response.headers
    assert (await rows.count("chat.turns"), model.requests) == (0, [])
