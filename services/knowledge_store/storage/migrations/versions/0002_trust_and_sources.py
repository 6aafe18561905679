"""Access signals and trust; what an ingest remembers of a source and of a file."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SCHEMA = "knowledge"


def upgrade() -> None:
    op.add_column("collection", sa.Column("default_is_public", sa.Boolean), schema=SCHEMA)
    op.add_column("document", sa.Column("source_hash", sa.Text), schema=SCHEMA)
    _create_signals()
    _create_trust()


def downgrade() -> None:
    for table in ("trust_state", "trust", "access_signal"):
        op.drop_table(table, schema=SCHEMA)
    op.drop_column("document", "source_hash", schema=SCHEMA)
    op.drop_column("collection", "default_is_public", schema=SCHEMA)


def _create_signals() -> None:
    op.create_table(
        "access_signal",
        sa.Column("event_id", postgresql.UUID(as_uuid=True), nullable=False),
        sa.Column("record_id", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("event_id", name="access_signal_pkey"),
        sa.CheckConstraint("kind IN ('cited', 'clicked')", name="access_signal_kind_check"),
        schema=SCHEMA,
    )
    op.create_index("access_signal_occurred_at_idx", "access_signal", ["occurred_at"], schema=SCHEMA)


def _create_trust() -> None:
    op.create_table(
        "trust",
        sa.Column("record_id", sa.Text(collation="C"), nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("as_of", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("record_id", name="trust_pkey"),
        schema=SCHEMA,
    )
    op.create_table(
        "trust_state",
        sa.Column("only_row", sa.SmallInteger, nullable=False),
        sa.Column("rule", sa.Text),
        sa.Column("bookmark", postgresql.UUID(as_uuid=True)),
        sa.PrimaryKeyConstraint("only_row", name="trust_state_pkey"),
        sa.CheckConstraint("only_row = 1", name="trust_state_single_check"),
        schema=SCHEMA,
    )
    op.execute("INSERT INTO knowledge.trust_state VALUES (1, NULL, NULL)")
