"""What a batch does to the database: effects, ledger and dead letters in one transaction."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.wiring import EFFECTS
from services.trace_writer.wiring import EFFECTS as TRACE_EFFECTS
from shared.database.engine import make_engine
from shared.events import Event, ModelRunTraced
from shared.messaging.delivery import Delivery, DeliveryService
from shared.messaging.envelope import body_of, headers_of, with_message_id
from shared.messaging.outbox import enqueue
from tests.support.events import AT, make_click, make_knowledge_change, make_rating, make_usage
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest.fixture
def service(engine: AsyncEngine) -> DeliveryService:
    return DeliveryService(engine, "signal_worker", EFFECTS)


def _delivery(event: Event) -> Delivery:
    return Delivery(event.subject, body_of(event), headers_of(event, source="test"))


async def _insert_answer(rows: Rows) -> UUID:
    conversation, message = uuid4(), uuid4()
    await rows.run("INSERT INTO chat.conversations (id, owner_id, title) VALUES ($1, 'anna', 't')", conversation)
    await rows.run(
        "INSERT INTO chat.messages (id, conversation_id, role, content, outcome) "
        "VALUES ($1, $2, 'assistant', 'Answer', 'grounded')",
        message,
        conversation,
    )
    return message


async def test_effect_and_ledger_row_go_together(service: DeliveryService, engine: AsyncEngine, rows: Rows) -> None:
    event = make_click()
    async with engine.begin() as connection:
        await enqueue(connection, [event], source="test")
    await service.deliver([_delivery(event)])
    assert (await rows.count("signals.accesses"), await rows.count("mesh.outbox")) == (1, 0)


async def test_duplicates_are_applied_once_and_counted_once(service: DeliveryService, rows: Rows) -> None:
    event = make_click()
    await service.deliver([_delivery(event), _delivery(event), _delivery(make_click("k2"))])
    await service.deliver([_delivery(event)])
    assert await rows.count("signals.accesses") == 2
    assert await rows.one("SELECT total FROM signals.access_counters") == 2


async def test_what_came_of_each_message_is_told(service: DeliveryService, engine: AsyncEngine) -> None:
    event, foreign = make_click(), make_click("k2")
    async with engine.begin() as connection:
        await enqueue(connection, [event], source="test")
    poison = Delivery(event.subject, b"{}", {})
    first = await service.deliver([_delivery(event), _delivery(foreign), poison])
    assert [one.fate for one in first] == ["applied", "applied", "dead_letter"]
    again = replace(_delivery(event), deliveries=2)
    resent = replace(_delivery(event), headers=with_message_id(dict(again.headers), event.event_id, 2))
    assert [one.fate for one in await service.deliver([again, resent])] == ["duplicate", "duplicate"]


@pytest.mark.req("MESH-5")
async def test_poison_is_dead_lettered_alone(service: DeliveryService, engine: AsyncEngine, rows: Rows) -> None:
    good = [make_usage() for _ in range(99)]
    # A cost without a currency passes the event's own checks and is refused by the database.
    poison = make_usage(cost="1.00")
    async with engine.begin() as connection:
        await enqueue(connection, [*good, poison], source="test")
    await service.deliver([*map(_delivery, good[:50]), _delivery(poison), *map(_delivery, good[50:])])
    assert (await rows.count("signals.usage"), await rows.count("mesh.outbox")) == (99, 0)
    letter = (await rows.all("SELECT * FROM mesh.dead_letters"))[0]
    assert (letter["event_id"], letter["reason_class"]) == (str(poison.event_id), "CheckViolationError")
    await rows.run("ALTER TABLE signals.usage DROP CONSTRAINT ck_usage_cost_has_currency")
    await service.deliver([Delivery(letter["subject"], letter["payload"], headers_of(poison, source="test"))])
    assert await rows.count("signals.usage") == 100


@pytest.mark.parametrize("wrong", [{"model": "a\x00b"}, {"input_tokens": 2**40}, {"cost": "1e30", "currency": "USD"}])
async def test_a_value_that_no_column_can_hold_is_dead_lettered_alone(
    service: DeliveryService, rows: Rows, wrong: dict[str, object]
) -> None:
    good = [make_usage() for _ in range(4)]
    await service.deliver([_delivery(good[0]), _delivery(make_usage(**wrong)), *map(_delivery, good[1:])])
    assert (await rows.count("signals.usage"), await rows.count("mesh.dead_letters")) == (4, 1)


@pytest.mark.parametrize(
    "mistake",
    ["ALTER TABLE signals.usage RENAME TO usage_elsewhere", "ALTER TABLE signals.usage DROP COLUMN model CASCADE"],
)
async def test_a_mistake_of_the_deployment_buries_no_healthy_event(
    service: DeliveryService, engine: AsyncEngine, rows: Rows, mistake: str
) -> None:
    event = make_usage()
    async with engine.begin() as connection:
        await enqueue(connection, [event], source="test")
    await rows.run(mistake)
    with pytest.raises(DBAPIError):
        await service.deliver([_delivery(event)])
    assert (await rows.count("mesh.outbox"), await rows.count("mesh.dead_letters")) == (1, 0)


async def test_dead_letters_without_an_id_do_not_replace_each_other(service: DeliveryService, rows: Rows) -> None:
    subject = make_click().subject
    await service.deliver([Delivery(subject, body, {}) for body in (b"one", b"two", b"one")])
    assert await rows.count("mesh.dead_letters") == 2


async def test_a_forged_id_settles_nobody_elses_row(service: DeliveryService, engine: AsyncEngine, rows: Rows) -> None:
    event = make_click()
    async with engine.begin() as connection:
        await enqueue(connection, [event], source="test")
    await service.deliver([Delivery(event.subject, b"garbage", {"ce-id": str(event.event_id)})])
    assert (await rows.count("mesh.outbox"), await rows.count("mesh.dead_letters")) == (1, 1)


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"{}", b'{"occurred_at": "yesterday"}', b"[" * 5_000])
async def test_a_body_that_cannot_be_read_is_dead_lettered(service: DeliveryService, rows: Rows, body: bytes) -> None:
    good = make_click()
    await service.deliver([Delivery(good.subject, body, {"ce-id": "x"}), _delivery(good)])
    assert await rows.count("signals.accesses") == 1
    assert await rows.one("SELECT reason_class FROM mesh.dead_letters") == "unparsable"


async def test_an_unknown_subject_is_dead_lettered(service: DeliveryService, rows: Rows) -> None:
    await service.deliver([Delivery("achilles.signal.v9.new", b"{}", {})])
    assert await rows.one("SELECT reason_class FROM mesh.dead_letters") == "unknown_subject"


@pytest.mark.req("FEEDBACK-5")
async def test_ratings_settle_on_the_highest_revision(service: DeliveryService, rows: Rows) -> None:
    message = await _insert_answer(rows)
    newest, older = make_rating(message, -1, 3), make_rating(message, 1, 2)
    await service.deliver([_delivery(newest)])
    await service.deliver([_delivery(older), _delivery(newest)])
    assert await rows.one("SELECT feedback FROM chat.messages") == -1
    await service.deliver([_delivery(make_rating(message, None, 4))])
    assert await rows.one("SELECT feedback FROM chat.messages") is None


async def test_knowledge_state_moves_only_forward(service: DeliveryService, rows: Rows) -> None:
    await service.deliver([_delivery(make_knowledge_change(2, is_empty=False))])
    await service.deliver([_delivery(make_knowledge_change(1, is_empty=True))])
    assert await rows.one("SELECT is_empty FROM signals.knowledge_state") is False


async def test_a_trace_of_a_deleted_conversation_is_applied_as_nothing(engine: AsyncEngine, rows: Rows) -> None:
    run = ModelRunTraced(
        occurred_at=AT,
        message_id=uuid4(),
        conversation_id=uuid4(),
        provider_call=1,
        prompt_version_id="p",
        provider="scripted",
        model="m",
        outcome="completed",
        input_tokens=1,
        output_tokens=1,
        estimated=False,
        latency_ms=1,
        first_token_ms=None,
        input_hash="i",
        output_hash="o",
    )
    await DeliveryService(engine, "trace_writer", TRACE_EFFECTS).deliver([_delivery(run)])
    assert (await rows.count("traces.runs"), await rows.count("mesh.dead_letters")) == (0, 0)


async def test_a_database_that_is_away_is_no_dead_letter(rows: Rows) -> None:
    away = make_engine("postgresql://nobody:x@127.0.0.1:1/none", application_name="test")
    service = DeliveryService(away, "signal_worker", EFFECTS)
    with pytest.raises(OSError):  # noqa: PT011 (any of its kinds means: try again)
        await service.deliver([_delivery(make_click())])
    await away.dispose()
    assert await rows.count("mesh.dead_letters") == 0
