"""What the database itself refuses, whatever the code does."""

from uuid import UUID, uuid4

import asyncpg
import pytest

from shared.database.migrate import (
    downgrade_schema,
    latest_version,
    schema_drift,
    schema_version,
    upgrade_schema,
)
from tests.support.rows import Rows

pytestmark = [pytest.mark.integration, pytest.mark.p1]


async def _message(rows: Rows, role: str = "assistant") -> UUID:
    conversation, message = uuid4(), uuid4()
    await rows.run("INSERT INTO chat.conversations (id, owner_id, title) VALUES ($1, 'anna', 't')", conversation)
    await rows.run(
        "INSERT INTO chat.messages (id, conversation_id, role, content, outcome) VALUES ($1, $2, $3, 'Text', $4)",
        message,
        conversation,
        role,
        "grounded" if role == "assistant" else None,
    )
    return message


@pytest.mark.req("FEEDBACK-1")
@pytest.mark.parametrize("value", [0, 2, -2, 5])
async def test_a_rating_other_than_one_or_minus_one_is_refused(rows: Rows, value: int) -> None:
    message = await _message(rows)
    with pytest.raises(asyncpg.CheckViolationError):
        await rows.run("UPDATE chat.messages SET feedback = $1 WHERE id = $2", value, message)


@pytest.mark.req("FEEDBACK-3")
async def test_only_answers_can_be_rated(rows: Rows) -> None:
    question = await _message(rows, "user")
    with pytest.raises(asyncpg.CheckViolationError):
        await rows.run("UPDATE chat.messages SET feedback = 1 WHERE id = $1", question)


@pytest.mark.req("FEEDBACK-2")
async def test_rating_again_updates_the_same_row_and_moves_its_time(rows: Rows) -> None:
    message = await _message(rows)
    before = await rows.one("SELECT updated_at FROM chat.messages")
    await rows.run("UPDATE chat.messages SET feedback = 1, feedback_revision = 1 WHERE id = $1", message)
    between = await rows.one("SELECT updated_at FROM chat.messages")
    await rows.run("UPDATE chat.messages SET feedback = -1, feedback_revision = 2 WHERE id = $1", message)
    assert before < between < await rows.one("SELECT updated_at FROM chat.messages")
    assert await rows.count("chat.messages") == 1


@pytest.mark.req("FEEDBACK-4")
@pytest.mark.parametrize("change", ["content = 'x'", "outcome = 'failed'", "citations = '[1]'", "created_at = now()"])
async def test_a_message_is_written_once(rows: Rows, change: str) -> None:
    message = await _message(rows)
    with pytest.raises(asyncpg.CheckViolationError):
        await rows.run(f"UPDATE chat.messages SET feedback = 1, {change} WHERE id = $1", message)


@pytest.mark.req("ROUTE-3")
async def test_a_second_trace_of_one_message_is_refused(rows: Rows) -> None:
    message = await _message(rows)
    conversation = await rows.one("SELECT id FROM chat.conversations")
    insert = (
        "INSERT INTO traces.retrievals (event_id, message_id, conversation_id, query, outcome, cache_hit, candidates, "
        "packed, cited, rejected, notes, timings_ms, occurred_at) "
        "VALUES ($1, $2, $3, 'q', 'hits', false, '[]', '[]', '[]', '[]', '[]', '{}', now())"
    )
    await rows.run(insert, uuid4(), message, conversation)
    with pytest.raises(asyncpg.UniqueViolationError):
        await rows.run(insert, uuid4(), message, conversation)


async def test_two_running_turns_in_one_conversation_are_refused(rows: Rows) -> None:
    await _message(rows)
    conversation = await rows.one("SELECT id FROM chat.conversations")
    insert = (
        "INSERT INTO chat.turns (message_id, task_id, conversation_id, owner_id, client_message_id, user_message_id, "
        "state, lease_until, started_at) VALUES ($1, $1, $2, 'anna', $3, $1, 'running', now(), now())"
    )
    await rows.run(insert, uuid4(), conversation, "c1")
    with pytest.raises(asyncpg.UniqueViolationError, match="uq_turns_running_conversation"):
        await rows.run(insert, uuid4(), conversation, "c2")
    await rows.run("UPDATE chat.turns SET state = 'finished', outcome = 'failed'")
    with pytest.raises(asyncpg.UniqueViolationError, match="uq_turns_owner_id_client_message_id"):
        await rows.run(insert, uuid4(), conversation, "c1")


@pytest.mark.req("LOOP-22")
async def test_a_run_without_a_known_prompt_version_is_refused(rows: Rows) -> None:
    message = await _message(rows)
    conversation = await rows.one("SELECT id FROM chat.conversations")
    insert = (
        "INSERT INTO traces.runs (event_id, message_id, conversation_id, provider_call, prompt_version_id, provider, "
        "model, outcome, input_tokens, cached_input_tokens, output_tokens, estimated, latency_ms, input_hash, "
        "output_hash, occurred_at) "
        "VALUES ($1, $2, $3, 1, $4, 'p', 'm', 'completed', 1, 0, 1, false, 1, 'i', 'o', now())"
    )
    with pytest.raises(asyncpg.NotNullViolationError):
        await rows.run(insert, uuid4(), message, conversation, None)
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await rows.run(insert, uuid4(), message, conversation, "unknown")


async def test_the_schema_goes_up_down_and_up_without_drift(fresh_database_url: str) -> None:
    assert await schema_version(fresh_database_url) is None
    await upgrade_schema(fresh_database_url)
    await upgrade_schema(fresh_database_url)
    assert await schema_version(fresh_database_url) == latest_version()
    assert await schema_drift(fresh_database_url) == []
    await downgrade_schema(fresh_database_url, "base")
    await upgrade_schema(fresh_database_url)
    assert await schema_drift(fresh_database_url) == []
