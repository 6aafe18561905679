"""The checker finds nothing in a whole turn, and finds each way to break it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from shared.events import AnswerRated, Event, ModelRunTraced, RetrievalTraced, SourceAccessed, UsageRecorded
from shared.usage.rollups import add_to_sums, sums_of
from tests.support.chaos.checker import find_violations, told
from tests.support.chaos.chronicle import AcceptedClick, AcceptedRating, Chronicle, SeenTurn
from tests.support.chaos.handbook import QUESTIONS, answer_to, pages_for
from tests.support.chaos.journal import install_journal

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_QUESTION = QUESTIONS[0]
_AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_CONVERSATION, _MESSAGE, _ASKED = (UUID(int=number) for number in (1, 2, 3))
_RECORDS = tuple(page.record_id for page in pages_for(_QUESTION))

_TURN = f"""
INSERT INTO chat.conversations (id, owner_id, title) VALUES ('{_CONVERSATION}', 'anna', 't');
INSERT INTO chat.messages (id, conversation_id, role, content)
    VALUES ('{_ASKED}', '{_CONVERSATION}', 'user', '{_QUESTION}');
INSERT INTO chat.messages (id, conversation_id, role, content, outcome, tokens_used, citations)
    VALUES ('{_MESSAGE}', '{_CONVERSATION}', 'assistant', '{answer_to(_QUESTION)}', 'grounded', 30,
            '{json.dumps([{"record_id": one} for one in _RECORDS])}');
INSERT INTO chat.turns (message_id, task_id, conversation_id, owner_id, client_message_id, user_message_id, state,
                        outcome, lease_until, started_at)
    VALUES ('{_MESSAGE}', '{_ASKED}', '{_CONVERSATION}', 'anna', 'c1', '{_ASKED}', 'finished', 'grounded', now(),
            now());
INSERT INTO traces.prompt_versions (id, name, static_text) VALUES ('p1', 'p', 'p');
"""
_EFFECTS = f"""
INSERT INTO signals.accesses (event_id, message_id, conversation_id, record_id, kind, click_id, source_system,
                              occurred_at)
    SELECT event_id, (body->>'message_id')::uuid, '{_CONVERSATION}', body->>'record_id', body->>'kind',
           body->>'click_id', 'Handbook', '{_AT}' FROM chaos.events WHERE subject LIKE '%.accessed';
INSERT INTO signals.access_counters
    SELECT record_id, kind, count(*), max(occurred_at) FROM signals.accesses GROUP BY 1, 2;
INSERT INTO signals.usage (event_id, message_id, provider_call, user_id, provider, model, input_tokens,
                           cached_input_tokens, output_tokens, estimated, occurred_at)
    SELECT event_id, '{_MESSAGE}', (body->>'provider_call')::int, 'anna', 'p', 'm', 10, 0, 5, false, '{_AT}'
    FROM chaos.events WHERE subject LIKE '%.usage';
{add_to_sums(sums_of("signals.usage"))};
INSERT INTO traces.runs (event_id, message_id, conversation_id, provider_call, prompt_version_id, provider, model,
        outcome, input_tokens, cached_input_tokens, output_tokens, estimated, latency_ms, input_hash, output_hash,
        occurred_at)
    SELECT event_id, '{_MESSAGE}', '{_CONVERSATION}', (body->>'provider_call')::int, 'p1', 'p', 'm', 'completed',
           10, 0, 5, false, 1, 'h', 'h', '{_AT}' FROM chaos.events WHERE subject LIKE '%.run';
INSERT INTO traces.retrievals (event_id, message_id, conversation_id, query, outcome, cache_hit, candidates, packed,
                               cited, rejected, notes, timings_ms, occurred_at)
    SELECT event_id, '{_MESSAGE}', '{_CONVERSATION}', 'q', 'hits', false, '[]', '[]', '[]', '[]', '[]', '{{}}', '{_AT}'
    FROM chaos.events WHERE subject LIKE '%.retrieved';
UPDATE chat.messages SET feedback = 1, feedback_revision = 7 WHERE id = '{_MESSAGE}';
DELETE FROM mesh.outbox;
"""


def _access(record_id: str, click_id: str | None = None) -> SourceAccessed:
    return SourceAccessed(
        occurred_at=_AT,
        message_id=_MESSAGE,
        conversation_id=_CONVERSATION,
        record_id=record_id,
        source_system="Handbook",
        kind="clicked" if click_id else "cited",
        click_id=click_id,
    )


def _events() -> list[Event]:
    call = {"occurred_at": _AT, "message_id": _MESSAGE, "provider": "p", "model": "m", "estimated": False}
    call |= {"input_tokens": 10, "output_tokens": 5, "user_id": "anna", "department": None}
    run = {"conversation_id": _CONVERSATION, "prompt_version_id": "p1", "outcome": "completed", "latency_ms": 1}
    run |= {"first_token_ms": None, "input_hash": "h", "output_hash": "h"}
    retrieved = {"query": "q", "outcome": "hits", "store_id": None, "knowledge_version": None, "cache_hit": False}
    subject = {"occurred_at": _AT, "message_id": _MESSAGE, "conversation_id": _CONVERSATION}
    return [
        *(_access(record_id) for record_id in _RECORDS),
        _access(_RECORDS[0], "k1"),
        *(UsageRecorded.model_validate({**call, "provider_call": number}) for number in (1, 2)),
        *(ModelRunTraced.model_validate({**call, **run, "provider_call": number}) for number in (1, 2)),
        RetrievalTraced.model_validate({**subject, **retrieved}),
        *(AnswerRated.model_validate({**subject, "value": value, "revision": at}) for value, at in ((-1, 6), (1, 7))),
    ]


@pytest_asyncio.fixture
async def connection(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A database in which one turn has left everything that it should."""
    connection = await asyncpg.connect(database_url)
    await install_journal(connection)
    await connection.execute(_TURN)
    for event in _events():
        await connection.execute(
            "INSERT INTO mesh.outbox (event_id, subject, stream, payload, headers) VALUES ($1, $2, $3, $4, '{}')",
            event.event_id,
            event.subject,
            event.stream,
            event.model_dump_json().encode(),
        )
    await connection.execute(_EFFECTS)
    yield connection
    await connection.close()


@pytest.fixture
def chronicle() -> Chronicle:
    message = str(_MESSAGE)
    return Chronicle(
        turns=[SeenTurn(message, str(_CONVERSATION), _QUESTION, answer_to(_QUESTION), "finished", "grounded")],
        ratings=[AcceptedRating(message, 1, 7)],
        clicks=[AcceptedClick(message, "k1")],
        clicks_tried={"k1"},
    )


@asynccontextmanager
async def _unguarded(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """Messages are guarded against being changed, which a defect might get around."""
    await connection.execute("ALTER TABLE chat.messages DISABLE TRIGGER guard_message")
    yield
    await connection.execute("ALTER TABLE chat.messages ENABLE TRIGGER guard_message")


async def test_a_whole_turn_breaks_nothing(connection: asyncpg.Connection, chronicle: Chronicle) -> None:
    assert await find_violations(connection, chronicle) == []


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        ("DELETE FROM signals.usage WHERE provider_call = 2", "an event waits"),
        ("DELETE FROM traces.retrievals", "an event waits"),
        ("UPDATE signals.access_counters SET total = total + 1", "access counters"),
        ("UPDATE signals.access_counters SET last_at = now()", "access counters"),
        ("UPDATE signals.accesses SET event_id = gen_random_uuid()", "nothing stands in signals.accesses"),
        ("DELETE FROM signals.accesses WHERE kind = 'clicked'", "an accepted click"),
        ("UPDATE signals.accesses SET click_id = 'x' WHERE kind = 'clicked'", "a click was made"),
        ("UPDATE signals.accesses SET record_id = 'x' WHERE kind = 'cited'", "every citation"),
        ("UPDATE chat.messages SET feedback = -1, feedback_revision = 6 WHERE feedback = 1", "the rating"),
        ("UPDATE signals.usage SET output_tokens = 6", "usage and runs"),
        ("UPDATE signals.usage_daily SET calls = calls + 1", "sums of usage"),
        ("DELETE FROM signals.usage_daily", "sums of usage"),
        ("UPDATE traces.runs SET provider_call = provider_call + 1 WHERE provider_call = 2", "usage and runs"),
        ("UPDATE chat.messages SET content = 'Every' WHERE role = 'assistant'", "no message is half-written"),
        ("UPDATE chat.messages SET outcome = 'failed' WHERE role = 'assistant'", "every ended turn"),
        ("UPDATE chat.turns SET state = 'running', outcome = NULL", "every turn has ended"),
        ("DELETE FROM chat.messages WHERE role = 'assistant'", "what a client was told of"),
        ("DELETE FROM chat.turns", "every message belongs"),
    ],
)
async def test_each_damage_is_found(
    connection: asyncpg.Connection, chronicle: Chronicle, damage: str, rule: str
) -> None:
    async with _unguarded(connection):
        await connection.execute(damage)
    violations = await find_violations(connection, chronicle)
    assert any(one.rule.startswith(rule) for one in violations), violations


async def test_what_goes_with_a_deleted_conversation_is_not_missed(
    connection: asyncpg.Connection, chronicle: Chronicle
) -> None:
    await connection.execute("DELETE FROM chat.conversations")
    chronicle.deletions.add(str(_CONVERSATION))
    assert await find_violations(connection, chronicle) == []


async def test_a_deletion_that_did_not_happen_is_found(connection: asyncpg.Connection, chronicle: Chronicle) -> None:
    chronicle.deletions.add(str(_CONVERSATION))
    assert [one.rule for one in await find_violations(connection, chronicle)] == ["a deleted conversation is gone"]


async def test_a_letter_for_good_news_and_poison_without_one_are_found(
    connection: asyncpg.Connection, chronicle: Chronicle
) -> None:
    await connection.execute(
        "INSERT INTO mesh.dead_letters (consumer, event_id, subject, reason_class, payload, headers, deliveries) "
        "VALUES ('signal_worker', 'e', 's', 'r', '', '{}', 1)"
    )
    await connection.execute("INSERT INTO chaos.poison VALUES ($1)", uuid4())
    found = {one.rule for one in await find_violations(connection, chronicle)}
    assert found == {"only poison is dead-lettered", "each poison is one dead letter"}


async def test_what_a_client_was_told_otherwise_is_found(connection: asyncpg.Connection, chronicle: Chronicle) -> None:
    chronicle.turns.append(SeenTurn(str(_MESSAGE), str(_CONVERSATION), _QUESTION, "Every", "interrupted"))
    chronicle.ratings.append(AcceptedRating(str(_MESSAGE), 1, 99))
    found = {one.rule for one in await find_violations(connection, chronicle)}
    assert found == {"what a client was told is what is stored", "an accepted rating is an event"}


async def test_a_violation_is_told_with_its_history_and_the_faults_near_it(
    connection: asyncpg.Connection, chronicle: Chronicle
) -> None:
    chronicle.note("anna saw the stream end", str(_MESSAGE))
    chronicle.note("FAULT kill nats")
    await connection.execute("DELETE FROM signals.usage WHERE provider_call = 2")
    text = await told(connection, chronicle, await find_violations(connection, chronicle))
    for expected in ("has no row in signals.usage", "achilles.signal.v1.usage", "written by", "settled by", "FAULT"):
        assert expected in text
