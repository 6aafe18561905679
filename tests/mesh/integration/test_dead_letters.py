"""Events that could not be applied: nothing is lost by looking at them, and a replay applies once."""

import asyncio
import json
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.wiring import EFFECTS
from shared.messaging.dead_letters import DeadLetters
from shared.messaging.delivery import Delivery, DeliveryService
from shared.messaging.envelope import body_of, headers_of, with_message_id
from tests.support.events import make_click
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]
CLICK = make_click()


@pytest.fixture
def letters(engine: AsyncEngine) -> DeadLetters:
    return DeadLetters(engine)


def _sent(body: bytes, subject: str = CLICK.subject, *, epoch: int = 3) -> Delivery:
    headers = with_message_id(headers_of(CLICK, source="test"), CLICK.event_id, epoch)
    return Delivery(subject, body, headers, deliveries=1)


async def _bury(engine: AsyncEngine, *deliveries: Delivery) -> list[UUID]:
    """As a worker that does not know these subjects, or cannot read these bodies."""
    await DeliveryService(engine, "signal_worker", {}).deliver(deliveries)
    return [letter.id for letter in await DeadLetters(engine).newest(100)]


@pytest.mark.req("MESH-5")
async def test_a_replay_after_the_fix_applies_exactly_once(
    letters: DeadLetters, engine: AsyncEngine, rows: Rows
) -> None:
    ids = await _bury(engine, _sent(body_of(CLICK)))
    reports = await asyncio.gather(*(letters.replay(ids) for _ in range(4)))
    assert sorted(len(report.replayed) for report in reports) == [0, 0, 0, 1]
    sent = (await rows.all("SELECT * FROM mesh.outbox"))[0]
    assert (sent["event_id"], bytes(sent["payload"]), sent["stream"]) == (
        CLICK.event_id,
        body_of(CLICK),
        "ACHILLES_SIGNAL",
    )
    service = DeliveryService(engine, "signal_worker", EFFECTS)
    delivery = Delivery(sent["subject"], bytes(sent["payload"]), json.loads(sent["headers"]))
    await service.deliver([delivery, delivery])
    assert await rows.count("signals.accesses") == 1
    assert (await rows.count("mesh.outbox"), await letters.count()) == (0, 0)


async def test_a_replay_is_new_to_the_broker(letters: DeadLetters, engine: AsyncEngine, rows: Rows) -> None:
    ids = await _bury(engine, _sent(body_of(CLICK), epoch=7))
    await letters.replay(ids)
    sent = (await rows.all("SELECT epoch, headers FROM mesh.outbox"))[0]
    assert sent["epoch"] == 7
    assert not [name for name in json.loads(sent["headers"]) if name.lower().startswith("nats-")]


async def test_an_event_that_fails_again_is_a_dead_letter_again(
    letters: DeadLetters, engine: AsyncEngine, rows: Rows
) -> None:
    ids = await _bury(engine, _sent(b"{broken"))
    await letters.replay(ids)
    sent = (await rows.all("SELECT * FROM mesh.outbox"))[0]
    delivery = Delivery(sent["subject"], bytes(sent["payload"]), json.loads(sent["headers"]))
    await DeliveryService(engine, "signal_worker", EFFECTS).deliver([delivery])
    assert (await rows.count("mesh.outbox"), await letters.count()) == (0, 1)


async def test_what_no_stream_takes_stays_a_dead_letter(letters: DeadLetters, engine: AsyncEngine, rows: Rows) -> None:
    ids = await _bury(engine, _sent(b"{}", "elsewhere.v1.thing"))
    report = await letters.replay(ids)
    assert (report.replayed, [one for one, _ in report.refused]) == ((), ids)
    assert (await rows.count("mesh.outbox"), await letters.count()) == (0, 1)


async def test_another_event_under_the_same_id_is_not_overwritten(
    letters: DeadLetters, engine: AsyncEngine, rows: Rows
) -> None:
    ids = await _bury(engine, _sent(b'{"other": 1}'))
    await rows.run(
        "INSERT INTO mesh.outbox (event_id, subject, stream, payload, headers) VALUES ($1, $2, $3, $4, '{}')",
        CLICK.event_id,
        CLICK.subject,
        CLICK.stream,
        body_of(CLICK),
    )
    report = await letters.replay(ids)
    assert report.refused
    assert bytes(await rows.one("SELECT payload FROM mesh.outbox")) == body_of(CLICK)


async def test_unknown_ids_are_told_and_change_nothing(letters: DeadLetters, engine: AsyncEngine) -> None:
    await _bury(engine, _sent(b"{}"))
    unknown = uuid4()
    assert (await letters.replay([unknown])).missing == (unknown,)
    assert await letters.discard([unknown]) == ()
    assert await letters.find(unknown) is None
    assert await letters.count() == 1


async def test_a_discarded_letter_is_gone(letters: DeadLetters, engine: AsyncEngine) -> None:
    ids = await _bury(engine, _sent(b"{}"))
    assert await letters.discard(ids) == tuple(ids)
    assert await letters.count() == 0
