"""What trace_writer writes: retrievals and model runs. Prompt versions are registered by the front at call time."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    Numeric,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.database.metadata import metadata

prompt_versions = Table(
    "prompt_versions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("static_text", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("ix_prompt_versions_name", "name"),
    schema="traces",
)

retrievals = Table(
    "retrievals",
    metadata,
    Column("event_id", Uuid, primary_key=True),
    Column("message_id", Uuid, nullable=False),
    Column("conversation_id", Uuid, ForeignKey("chat.conversations.id", ondelete="CASCADE"), nullable=False),
    Column("query", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("store_id", Text),
    Column("knowledge_version", BigInteger),
    Column("cache_hit", Boolean, nullable=False),
    Column("fault", Text),
    Column("candidates", JSONB, nullable=False),
    Column("packed", JSONB, nullable=False),
    Column("cited", JSONB, nullable=False),
    Column("rejected", JSONB, nullable=False),
    Column("notes", JSONB, nullable=False),
    Column("timings_ms", JSONB, nullable=False),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    Column("applied_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("message_id"),
    Index("ix_retrievals_conversation_id", "conversation_id"),
    schema="traces",
)

runs = Table(
    "runs",
    metadata,
    Column("event_id", Uuid, primary_key=True),
    Column("message_id", Uuid, nullable=False),
    Column("conversation_id", Uuid, ForeignKey("chat.conversations.id", ondelete="CASCADE"), nullable=False),
    Column("provider_call", Integer, nullable=False),
    Column("prompt_version_id", Text, ForeignKey("traces.prompt_versions.id"), nullable=False),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("cached_input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("estimated", Boolean, nullable=False),
    Column("latency_ms", Integer, nullable=False),
    Column("first_token_ms", Integer),
    Column("input_hash", Text, nullable=False),
    Column("output_hash", Text, nullable=False),
    Column("cost", Numeric(20, 10)),
    Column("currency", Text),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    Column("applied_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    UniqueConstraint("message_id", "provider_call"),
    Index("ix_runs_conversation_id", "conversation_id"),
    schema="traces",
)
