"""The outbox (the ledger of events without an effect yet), the dead letters and the canaries."""

from sqlalchemy import (
    Column,
    DateTime,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.database.metadata import metadata

outbox = Table(
    "outbox",
    metadata,
    Column("event_id", Uuid, primary_key=True),
    Column("subject", Text, nullable=False),
    Column("stream", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("headers", JSONB, nullable=False),
    Column("epoch", Integer, nullable=False, server_default=text("0")),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("next_attempt_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("ix_outbox_next_attempt_at", "next_attempt_at"),
    Index("ix_outbox_created_at", "created_at"),
    schema="mesh",
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("id", Uuid, primary_key=True, server_default=text("gen_random_uuid()")),
    Column("consumer", Text, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("reason_class", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("headers", JSONB, nullable=False),
    Column("deliveries", Integer, nullable=False),
    Column("first_seen_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("last_seen_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("consumer", "event_id"),
    schema="mesh",
)

canaries_sent = Table(
    "canaries_sent",
    metadata,
    Column("stream", Text, primary_key=True),
    Column("sent_at", DateTime(timezone=True), nullable=False),
    schema="mesh",
)

canaries = Table(
    "canaries",
    metadata,
    Column("consumer", Text, primary_key=True),
    Column("stream", Text, nullable=False),
    Column("sent_at", DateTime(timezone=True), nullable=False),
    Column("applied_at", DateTime(timezone=True), nullable=False),
    schema="mesh",
)
