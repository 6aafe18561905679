"""Dead letters over the API: looked at, sent again and given up by administrators, and by nobody else."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.wiring import EFFECTS
from shared.messaging.delivery import Delivery, DeliveryService
from shared.messaging.envelope import body_of, headers_of, with_message_id
from tests.support.events import make_click
from tests.support.front import Person, RunningFront
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_PATH = "/api/v1/admin/dead-letters"
_CLICK = make_click()


@pytest_asyncio.fixture
async def olga(front: RunningFront) -> AsyncIterator[Person]:
    """An administrator."""
    async with front.person("olga") as person:
        yield person


async def _bury(engine: AsyncEngine, body: bytes, *, subject: str = _CLICK.subject) -> str:
    """As a worker does that knows no event. Returns the letter's id."""
    click = make_click(str(uuid4()))
    headers = with_message_id(headers_of(click, source="test"), click.event_id, 1)
    await DeliveryService(engine, "signal_worker", {}).deliver([Delivery(subject, body, headers)])
    async with Rows.of(engine.url.set(drivername="postgresql").render_as_string(hide_password=False)) as rows:
        return str(await rows.one("SELECT id FROM mesh.dead_letters WHERE event_id = $1", str(click.event_id)))


async def _ids(olga: Person) -> list[str]:
    return [letter["id"] for letter in (await olga.client.get(_PATH)).json()["data"]]


async def test_an_administrator_sees_letters_newest_first_and_each_with_its_event(
    olga: Person, engine: AsyncEngine
) -> None:
    first, second = await _bury(engine, body_of(_CLICK)), await _bury(engine, b"\xff\x00")
    response = await olga.client.get(_PATH)
    listed = response.json()
    assert [letter["id"] for letter in listed["data"]] == [second, first]
    assert (listed["object"], listed["first_id"], listed["last_id"], listed["has_more"]) == (
        "list",
        second,
        first,
        False,
    )
    assert response.headers["cache-control"] == "no-store"
    assert set(listed["data"][0]) == {
        *("id", "consumer", "event_id", "subject", "reason_class", "deliveries", "first_seen_at", "last_seen_at")
    }
    readable = (await olga.client.get(f"{_PATH}/{first}")).json()
    assert (readable["event"], readable["event_base64"]) == (body_of(_CLICK).decode(), None)
    assert readable["reason_class"] == "unknown_subject"
    assert readable["headers"]["ce-id"] == readable["event_id"]
    broken = (await olga.client.get(f"{_PATH}/{second}")).json()
    assert (broken["event"], base64.b64decode(broken["event_base64"])) == (None, b"\xff\x00")


async def test_a_replayed_letter_goes_back_into_the_ledger_once_and_is_applied(
    olga: Person, engine: AsyncEngine, rows: Rows
) -> None:
    letter = await _bury(engine, body_of(_CLICK))
    responses = await asyncio.gather(*(olga.client.post(f"{_PATH}/{letter}/replay") for _ in range(3)))
    assert sorted(response.status_code for response in responses) == [202, 404, 404]
    assert next(one.json() for one in responses if one.status_code == 202) == {"id": letter}
    assert await _ids(olga) == []
    sent = (await rows.all("SELECT subject, payload FROM mesh.outbox WHERE subject = $1", _CLICK.subject))[0]
    await DeliveryService(engine, "signal_worker", EFFECTS).deliver([Delivery(sent["subject"], sent["payload"], {})])
    assert await rows.count("signals.accesses") == 1


async def test_a_replay_that_would_be_lost_is_refused_with_the_reason(
    olga: Person, engine: AsyncEngine, rows: Rows
) -> None:
    letter = await _bury(engine, b"{}", subject="elsewhere.v1.thing")
    for language, title in (("en", "This event cannot be sent again"), ("de", "nicht noch einmal"), ("zh", "重新")):
        response = await olga.client.post(f"{_PATH}/{letter}/replay", headers={"accept-language": language})
        problem: dict[str, Any] = response.json()
        assert (response.status_code, problem["code"]) == (409, "replay_refused")
        assert title in problem["title"]
        assert "no stream takes the subject elsewhere.v1.thing" in problem["detail"]
    assert await _ids(olga) == [letter]
    assert await rows.one("SELECT count(*) FROM mesh.outbox WHERE subject LIKE 'elsewhere%'") == 0


async def test_a_discarded_letter_is_gone_and_its_neighbour_stays(olga: Person, engine: AsyncEngine) -> None:
    letter, neighbour = await _bury(engine, b"{}"), await _bury(engine, b"{}")
    assert (await olga.client.delete(f"{_PATH}/{letter}")).status_code == 204
    assert (await olga.client.delete(f"{_PATH}/{letter}")).status_code == 404
    assert await _ids(olga) == [neighbour]


@pytest.mark.parametrize("unknown", [str(UUID(int=0)), "nope", "a" * 60, "%00"])
async def test_an_unknown_letter_is_not_found_in_every_way(olga: Person, unknown: str) -> None:
    for method, path in (("GET", ""), ("POST", "/replay"), ("DELETE", "")):
        response = await olga.client.request(method, f"{_PATH}/{unknown}{path}")
        assert (response.status_code, response.json()["code"]) == (404, "not_found"), (method, response.text)


async def test_nobody_else_may_look_or_touch(
    front: RunningFront, anna: Person, engine: AsyncEngine, rows: Rows
) -> None:
    letter = await _bury(engine, body_of(_CLICK))
    async with front.anybody() as nobody:
        for client, status in ((anna.client, 403), (nobody, 401)):
            for method, path in (
                ("GET", ""),
                ("GET", f"/{letter}"),
                ("POST", f"/{letter}/replay"),
                ("DELETE", f"/{letter}"),
            ):
                response = await client.request(method, _PATH + path)
                assert response.status_code == status
                assert letter not in response.text
    assert await rows.count("mesh.dead_letters") == 1


async def test_what_travels_on_the_bus_is_described_for_everybody(front: RunningFront) -> None:
    async with front.anybody() as nobody:
        response = await nobody.get("/api/v1/asyncapi.json")
    assert (response.status_code, response.json()["asyncapi"]) == (200, "3.0.0")
    assert response.headers["content-type"] == "application/json"
