"""What signal_worker writes: accesses and knowledge state. Usage is in usage.py, ratings are in chat.messages."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    func,
)

from shared.database.metadata import metadata

accesses = Table(
    "accesses",
    metadata,
    Column("event_id", Uuid, primary_key=True),
    Column("message_id", Uuid, nullable=False),
    Column("conversation_id", Uuid, nullable=False),
    Column("record_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("click_id", Text),
    Column("source_system", Text, nullable=False),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    Column("applied_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("kind IN ('cited', 'clicked')", name="kind"),
    Index("ix_accesses_message_id", "message_id"),
    Index("ix_accesses_applied_at_event_id", "applied_at", "event_id"),
    schema="signals",
)

access_counters = Table(
    "access_counters",
    metadata,
    Column("record_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("last_at", DateTime(timezone=True), nullable=False),
    PrimaryKeyConstraint("record_id", "kind"),
    schema="signals",
)

knowledge_state = Table(
    "knowledge_state",
    metadata,
    Column("store_id", Text, primary_key=True),
    Column("knowledge_version", BigInteger, nullable=False),
    Column("is_empty", Boolean, nullable=False),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    schema="signals",
)
