"""Conversations with a past, written straight into the tables."""

from uuid import UUID, uuid4

import asyncpg

# Each conversation has an owner of its own, who is signed in with the conversation's id as token.
_CONVERSATIONS = """
    INSERT INTO chat.conversations (id, owner_id, title, selected_model)
    SELECT id, id::text, 'benchmark', $2 FROM unnest($1::uuid[]) AS id
"""
_SESSIONS = """
    INSERT INTO chat.sessions (token_hash, owner_id, authority, identity, expires_at)
    SELECT sha256(convert_to(id::text, 'UTF8')), id::text, 'demo',
           jsonb_build_object('user_id', id::text, 'display_name', 'Anna', 'groups', '["staff"]'::jsonb),
           now() + interval '1 day'
    FROM unnest($1::uuid[]) AS id
"""
_MESSAGES = """
    INSERT INTO chat.messages (id, conversation_id, role, content, outcome, model, tokens_used)
    SELECT gen_random_uuid(), conversation, role, content, outcome, model, tokens
    FROM unnest($1::uuid[]) AS conversation,
         generate_series(1, $2 / 2) AS pair,
         (VALUES ('user', 'How many days may I carry over into the next year, and until when?', NULL, NULL, NULL),
                 ('assistant', repeat('Up to 5 unused days may be carried over. ', 6), 'grounded', 'pace-5', 90))
             AS line (role, content, outcome, model, tokens)
    ORDER BY conversation, pair, role DESC
"""


async def make_conversations(database_url: str, count: int, *, messages: int, model: str = "pace-5") -> list[UUID]:
    """So many conversations, each with so many messages and an owner who is signed in."""
    ids = [uuid4() for _ in range(count)]
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(_CONVERSATIONS, ids, model, timeout=600)
        await connection.execute(_SESSIONS, ids, timeout=600)
        await connection.execute(_MESSAGES, ids, messages, timeout=1800)
    finally:
        await connection.close()
    return ids


async def settle_tables(database_url: str) -> None:
    """So that neither a checkpoint nor the autovacuum of what was just written runs into the measurement."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("VACUUM ANALYZE chat.messages", timeout=1800)
        await connection.execute("VACUUM ANALYZE chat.conversations", timeout=1800)
        await connection.execute("CHECKPOINT", timeout=1800)
    finally:
        await connection.close()


async def waiting_events(database_url: str) -> int:
    connection = await asyncpg.connect(database_url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM mesh.outbox"))
    finally:
        await connection.close()
