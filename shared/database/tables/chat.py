"""Conversations, their messages, the turns that answer them, and browser sessions. Written by the front."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Sequence,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.database.metadata import metadata

OUTCOMES = (
    "conversational",
    "grounded",
    "partial",
    "withheld",
    "not_found",
    "clarify",
    "refused",
    "failed",
    "interrupted",
)
_OUTCOME_LIST = ", ".join(f"'{outcome}'" for outcome in OUTCOMES)


def _now() -> Column[object]:
    return Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now())


conversations = Table(
    "conversations",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("owner_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("selected_model", Text),
    _now(),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("ix_conversations_owner_id_updated_at_id", "owner_id", text("updated_at DESC"), text("id DESC")),
    schema="chat",
)

feedback_revision = Sequence("feedback_revision", schema="chat", metadata=metadata)

messages = Table(
    "messages",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("conversation_id", Uuid, ForeignKey("chat.conversations.id", ondelete="CASCADE"), nullable=False),
    Column("position", BigInteger, Identity(always=True), nullable=False),
    Column("role", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("outcome", Text),
    Column("model", Text),
    Column("tokens_used", Integer),
    Column("citations", JSONB, nullable=False, server_default=text("'[]'::jsonb")),
    Column("hint", JSONB),
    Column("notices", JSONB, nullable=False, server_default=text("'[]'::jsonb")),
    Column("feedback", SmallInteger),
    Column("feedback_revision", BigInteger),
    _now(),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("role IN ('user', 'assistant')", name="role"),
    CheckConstraint("feedback IN (-1, 1)", name="feedback_value"),
    CheckConstraint(
        "role = 'assistant' OR (feedback IS NULL AND feedback_revision IS NULL)", name="feedback_on_assistant"
    ),
    CheckConstraint("role = 'assistant' OR tokens_used IS NULL", name="tokens_on_assistant"),
    CheckConstraint(f"outcome IN ({_OUTCOME_LIST})", name="outcome"),
    CheckConstraint("(role = 'assistant') = (outcome IS NOT NULL)", name="outcome_on_assistant"),
    Index("ix_messages_conversation_id_position", "conversation_id", "position"),
    schema="chat",
)

turns = Table(
    "turns",
    metadata,
    Column("message_id", Uuid, primary_key=True),
    Column("task_id", Uuid, nullable=False),
    Column("conversation_id", Uuid, ForeignKey("chat.conversations.id", ondelete="CASCADE"), nullable=False),
    Column("owner_id", Text, nullable=False),
    Column("client_message_id", Text, nullable=False),
    Column("user_message_id", Uuid, nullable=False),
    Column("state", Text, nullable=False),
    Column("outcome", Text),
    Column("lease_until", DateTime(timezone=True), nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("finished_at", DateTime(timezone=True)),
    Column("stop_requested_at", DateTime(timezone=True)),
    CheckConstraint("state IN ('running', 'finished')", name="state"),
    CheckConstraint(f"outcome IN ({_OUTCOME_LIST})", name="outcome"),
    CheckConstraint("(state = 'finished') = (outcome IS NOT NULL)", name="outcome_when_finished"),
    UniqueConstraint("owner_id", "client_message_id"),
    Index("uq_turns_running_conversation", "conversation_id", unique=True, postgresql_where=text("state = 'running'")),
    Index("ix_turns_owner_id_started_at", "owner_id", "started_at"),
    Index("ix_turns_running_owner_id", "owner_id", postgresql_where=text("state = 'running'")),
    Index("ix_turns_running_lease_until", "lease_until", postgresql_where=text("state = 'running'")),
    schema="chat",
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("owner_id", Text, nullable=False),
    Column("identity", JSONB(none_as_null=True)),
    Column("authority", Text, nullable=False),
    _now(),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    CheckConstraint("(identity IS NULL) = (authority = 'anonymous')", name="identity_unless_anonymous"),
    Index("ix_sessions_expires_at", "expires_at"),
    schema="chat",
)
