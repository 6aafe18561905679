"""What model calls used: each call, the sums of a business day, and the time zone that a business day follows."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Index,
    Integer,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    func,
    text,
)

from shared.database.metadata import metadata

usage = Table(
    "usage",
    metadata,
    Column("event_id", Uuid, primary_key=True),
    Column("message_id", Uuid, nullable=False),
    Column("provider_call", Integer, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("department", Text),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("cached_input_tokens", Integer, nullable=False),
    Column("cache_write_tokens", Integer, nullable=False, server_default=text("0")),
    Column("output_tokens", Integer, nullable=False),
    Column("reasoning_tokens", Integer, nullable=False, server_default=text("0")),
    Column("estimated", Boolean, nullable=False),
    Column("cost", Numeric(20, 10)),
    Column("currency", Text),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    Column("applied_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("(cost IS NULL) = (currency IS NULL)", name="cost_has_currency"),
    CheckConstraint("currency ~ '^[A-Z]{3}$' AND cost >= 0", name="cost_is_money"),
    CheckConstraint(
        "least(input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens) >= 0",
        name="tokens_are_counts",
    ),
    CheckConstraint("occurred_at >= '2000-01-01+00' AND occurred_at < '2200-01-01+00'", name="occurred_in_our_time"),
    Index("ix_usage_occurred_at", "occurred_at"),
    Index("ix_usage_message_id", "message_id"),
    schema="signals",
)

# Without a department and without a known price these hold the empty text: a key has no NULL. Views show NULL.
usage_daily = Table(
    "usage_daily",
    metadata,
    Column("day", Date, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("department", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("cached_input_tokens", BigInteger, nullable=False),
    Column("cache_write_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("reasoning_tokens", BigInteger, nullable=False),
    Column("cost", Numeric, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("estimated_calls", BigInteger, nullable=False),
    Column("answers", BigInteger, nullable=False),
    PrimaryKeyConstraint("day", "user_id", "department", "provider", "model", "currency"),
    Index("ix_usage_daily_user_id_day", "user_id", "day"),
    schema="signals",
)

# One truth for all workers and readers. It is changed only together with a recount.
business_time_zone = Table(
    "business_time_zone",
    metadata,
    Column("is_only_row", Boolean, primary_key=True, server_default=text("true")),
    Column("name", Text, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("is_only_row", name="is_only_row"),
    schema="signals",
)
