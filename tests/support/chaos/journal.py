"""A witness inside the database: every event that was ever written to the ledger, sent, and settled.

It lives in a schema of its own, is filled by triggers in the very transactions that it watches, and knows nothing of
the code that is judged by it.
"""

import json
from collections.abc import Iterable
from uuid import UUID, uuid4

import asyncpg

from shared.events import UsageRecorded
from tests.support.chaos.chronicle import Chronicle, Entry

_SCHEMA = """
CREATE SCHEMA chaos;
CREATE TABLE chaos.journal (
    number BIGINT GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    what TEXT NOT NULL,
    event_id UUID NOT NULL,
    subject TEXT NOT NULL,
    payload BYTEA,
    by TEXT NOT NULL DEFAULT session_user
);
CREATE INDEX ON chaos.journal (event_id);
CREATE TABLE chaos.poison (event_id UUID PRIMARY KEY);
CREATE VIEW chaos.events AS
    SELECT DISTINCT ON (event_id) event_id, subject, at, convert_from(payload, 'UTF8')::jsonb AS body
    FROM chaos.journal WHERE what = 'written' AND event_id NOT IN (SELECT event_id FROM chaos.poison)
    ORDER BY event_id, number;
CREATE FUNCTION chaos.watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO chaos.journal (what, event_id, subject, payload)
        VALUES ('written', NEW.event_id, NEW.subject, NEW.payload);
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO chaos.journal (what, event_id, subject) VALUES ('settled', OLD.event_id, OLD.subject);
    ELSIF NEW.epoch > OLD.epoch THEN
        INSERT INTO chaos.journal (what, event_id, subject)
        VALUES ('claimed, epoch ' || NEW.epoch, NEW.event_id, NEW.subject);
    END IF;
    RETURN NULL;
END $$;
CREATE TABLE chaos.deleted (conversation_id UUID PRIMARY KEY);
CREATE FUNCTION chaos.watch_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos.deleted VALUES (OLD.id);
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_watch AFTER DELETE ON chat.conversations
    FOR EACH ROW EXECUTE FUNCTION chaos.watch_deletion();
CREATE TRIGGER chaos_watch AFTER INSERT OR UPDATE OR DELETE ON mesh.outbox
    FOR EACH ROW EXECUTE FUNCTION chaos.watch();
"""
_POISON = """
WITH event AS (INSERT INTO chaos.poison VALUES ($1) RETURNING event_id)
INSERT INTO mesh.outbox (event_id, subject, stream, payload, headers)
SELECT event_id, $2, $3, $4, jsonb_build_object('ce-id', event_id::text) FROM event
"""
_OF_MESSAGE = "SELECT event_id::text FROM chaos.events WHERE body->>'message_id' = ANY($1::text[])"
_HISTORY = (
    "SELECT at, what, subject, event_id::text, by FROM chaos.journal WHERE event_id = ANY($1::uuid[]) ORDER BY number"
)


async def install_journal(connection: asyncpg.Connection) -> None:
    await connection.execute(_SCHEMA)


async def write_poison(connection: asyncpg.Connection) -> None:
    """Two events of a defective sender: one that nobody can read, and one that no column can hold."""
    for body in ({"not": "an event"}, _too_large_usage()):
        await connection.execute(
            _POISON, uuid4(), UsageRecorded.subject, UsageRecorded.stream, json.dumps(body).encode()
        )


def _too_large_usage() -> dict[str, object]:
    return {
        "occurred_at": "2026-11-30T12:00:00Z",
        "message_id": str(uuid4()),
        "provider_call": 1,
        "user_id": "anna",
        "department": None,
        "provider": "p",
        "model": "m",
        "input_tokens": 2**40,
        "output_tokens": 1,
        "estimated": False,
    }


async def journal_of(connection: asyncpg.Connection, chronicle: Chronicle, subjects: Iterable[str]) -> list[Entry]:
    """What the ledger saw of these events, or of the events of these messages."""
    ids = {subject for subject in subjects if _is_uuid(subject)}
    events = {row[0] for row in await connection.fetch(_OF_MESSAGE, list(ids))} | ids
    rows = await connection.fetch(_HISTORY, [UUID(one) for one in events])
    return [
        Entry(
            (row["at"] - chronicle.started_at).total_seconds(),
            frozenset({row["event_id"]}),
            f"ledger: {row['subject']} {row['event_id']} {row['what']} by {row['by']}",
        )
        for row in rows
    ]


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
