"""What people wrote, who they are and what opens doors is in no log, span, figure, problem or foreign event."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, DeliverPolicy

from shared.events.streams import ALL_STREAMS
from tests.support.events import make_click, publish
from tests.support.front import Person, make_api_key
from tests.support.rows import Rows
from tests.support.threaded_model import BREAKS
from tests.support.waiting import eventually
from tests.support.watched import FACT, LEGS, METRICS_TOKEN, MODEL_FAULT, MODEL_KEY, Watched

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-16")]
_QUESTION = "How many quokka vouchers does the xylographer Zanzibarovich receive in May?"
_ASKED = ("Zanzibarovich", "quokka")
_WRITTEN = ("xylographer", "seventeen", "Kaleidoscopic", "poison-marker", "body-marker", "address-marker")
_PEOPLE = ("Anna Varga", "Varga")
_USER_ID = "anna"
_WRONG_TOKEN = "marked-wrong-token"
_RETRIEVED = "achilles.trace.v1.retrieved"


@dataclass(slots=True)
class _Told:
    """What was answered to requests that failed, and the secrets that came up on the way."""

    problems: list[str] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)

    def note(self, response: httpx.Response, *statuses: int) -> None:
        assert response.status_code in statuses, response.text
        self.problems.append(response.text)


async def test_content_people_and_secrets_stay_where_they_belong(watched: Watched, tmp_path: Path) -> None:
    told = _Told(secrets=_secrets_of(watched))
    await watched.know_the_fact(tmp_path)
    async with watched.achilles.front.person() as anna:
        told.secrets |= set(dict(anna.client.cookies).values())
        await _use_everything(anna, told)
        await _send_what_is_wrong(anna, told)
        await _lose_the_store(watched, anna, told)
    async with _jetstream(watched) as jetstream:
        await _poison(jetstream)
        await _all_is_written(watched)
        events = [one async for one in _events_of(jetstream)]
    await _check(watched, told, events)


async def _use_everything(anna: Person, told: _Told) -> None:
    answer = await anna.ask(_QUESTION)
    assert answer.outcome == "grounded"
    assert (await anna.ask(f"Now {BREAKS}, Zanzibarovich.")).error_code
    message, conversation = answer.message_id, answer.conversation_id
    (await anna.client.put(f"/api/v1/messages/{message}/feedback", json={"value": 1})).raise_for_status()
    opened = await anna.client.post(f"/api/v1/messages/{message}/citations/1/open", json={"click_id": "k1"})
    opened.raise_for_status()
    renamed = await anna.client.patch(f"/api/v1/conversations/{conversation}", json={"title": "Kaleidoscopic"})
    renamed.raise_for_status()
    (await anna.client.get("/api/v1/conversations", params={"q": "Kaleidoscopic"})).raise_for_status()
    secret = await make_api_key(anna)
    told.secrets.add(secret)
    asked = {"model": "served-1", "messages": [{"role": "user", "content": _QUESTION}]}
    spoken = await anna.client.post("/v1/chat/completions", json=asked, headers={"authorization": f"Bearer {secret}"})
    spoken.raise_for_status()


async def _send_what_is_wrong(anna: Person, told: _Told) -> None:
    client = anna.client
    told.note(await client.post("/api/v1/chat", json={"message": 7, "colour": "body-marker"}), 422)
    told.note(await client.post("/api/v1/chat", content=b'{"message": "body-marker', headers=_JSON), 400, 422)
    told.note(await client.post("/api/v1/chat", json={"message": "body-marker", "model": "body-marker"}), 422)
    told.note(await client.post("/api/v1/chat", json={"message": "body-marker\x00"}), 422)
    told.note(await client.get("/api/v1/conversations/address-marker"), 404, 422)
    told.note(await client.get("/api/v1/nothing/address-marker"), 404)
    told.note(await client.get("/api/v1/conversations", params={"limit": "address-marker"}), 422)
    told.note(await client.put(f"/api/v1/messages/{uuid4()}/feedback", json={"value": "body-marker"}), 422)
    wrong = {"authorization": f"Bearer {_WRONG_TOKEN}"}
    told.note(await client.get("/api/v1/conversations", headers=wrong), 401)
    told.note(await client.get("/metrics", headers=wrong), 401)


_JSON = {"content-type": "application/json"}


async def _lose_the_store(watched: Watched, anna: Person, told: _Told) -> None:
    store = watched.achilles.url_of("knowledge_store")
    async with httpx.AsyncClient(base_url=store, timeout=20) as client:
        body = {"query": "body-marker", "top_k": "body-marker"}
        told.note(await client.post("/v1/search", json=body, headers={"authorization": "Bearer e2e-token"}), 422)
        told.note(await client.post("/v1/search", json=body, headers={"authorization": f"Bearer {_WRONG_TOKEN}"}), 401)
    await watched.achilles.kill("knowledge_store")
    assert (await anna.ask(f"{_QUESTION} Please.")).error_code == "knowledge_unavailable"
    await watched.achilles.restart("knowledge_store")


async def _poison(jetstream: JetStreamContext) -> None:
    """One that cannot be read, one that the database refuses, and one of no kind that is known."""
    await jetstream.publish("achilles.signal.v1.rated", b'{"poison-marker": "poison-marker"}')
    await publish(jetstream, make_click("poison-marker", record_id="poison-marker\x00"))
    await jetstream.publish("achilles.signal.v1.accessed", b"poison-marker")


async def _all_is_written(watched: Watched) -> None:
    async with Rows.of(watched.achilles.servers.postgres.url) as rows:
        await eventually(lambda: rows.count("mesh.dead_letters"), until=lambda count: count >= 3)
        waiting = "SELECT count(*) FROM mesh.outbox WHERE subject NOT LIKE '%canary'"
        await eventually(lambda: rows.one(waiting), until=lambda count: count == 0, within=60)
    # What was recorded last is sent within the collector's pause.
    sent = len(watched.collector.spans)
    await eventually(lambda: _spans(watched), until=lambda count: count > sent)


async def _spans(watched: Watched) -> int:
    return len(watched.collector.spans)


async def _check(watched: Watched, told: _Told, events: list[tuple[str, str]]) -> None:
    places = {f"log of {leg}": watched.log_of(leg) for leg in LEGS}
    places |= {f"log of {file.stem}": file.read_text(errors="replace") for file in watched.achilles.logs.glob("*.log")}
    places |= {f"figures of {leg}": await watched.scrape(leg) for leg in LEGS}
    places["spans"] = watched.collector.raw.decode(errors="replace")
    places["problems"] = "\n".join(told.problems)
    assert all(text.strip() for text in places.values()), "an empty place proves nothing"
    found = {
        (place, marker)
        for place, text in places.items()
        for marker in (*told.secrets, *_ASKED, *_WRITTEN, *_PEOPLE, _USER_ID)
        if marker in text
    }
    assert found == set()
    assert {subject for subject, _ in events} >= {_RETRIEVED, "achilles.signal.v1.usage", "achilles.signal.v1.rated"}
    written = [word for word in _WRITTEN if word not in ("poison-marker", "xylographer")]
    for subject, text in events:
        assert not [marker for marker in (*told.secrets, *written, *_PEOPLE, FACT) if marker in text], subject
        # The query lives as long as its conversation, in the one event that is about it.
        assert subject == _RETRIEVED or not [marker for marker in _ASKED if marker in text], subject


def _secrets_of(watched: Watched) -> set[str]:
    servers = watched.achilles.servers
    passwords = {urlsplit(one.url).password or "" for one in (servers.postgres, servers.nats, servers.valkey)}
    assert "" not in passwords
    return {*passwords, METRICS_TOKEN, MODEL_KEY, MODEL_FAULT, _WRONG_TOKEN, "e2e-token"}


@asynccontextmanager
async def _jetstream(watched: Watched) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(watched.achilles.servers.nats.url)
    try:
        yield client.jetstream()
    finally:
        await client.close()


async def _events_of(jetstream: JetStreamContext) -> AsyncIterator[tuple[str, str]]:
    """Subject, and headers with body, of everything that was ever published."""
    for stream in ALL_STREAMS:
        everything = ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
        pull = await jetstream.pull_subscribe(">", stream=stream, config=everything)
        left = (await jetstream.stream_info(stream)).state.messages
        while left > 0:
            for message in await pull.fetch(min(left, 100), timeout=10):
                left -= 1
                yield message.subject, f"{message.headers} {message.data.decode(errors='replace')}"
                await message.ack()
        await asyncio.shield(pull.unsubscribe())
