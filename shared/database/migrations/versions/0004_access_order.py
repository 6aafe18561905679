"""Read accesses in the order in which they were written down."""

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_index("ix_accesses_applied_at_event_id", "accesses", ["applied_at", "event_id"], schema="signals")


def downgrade() -> None:
    op.drop_index("ix_accesses_applied_at_event_id", "accesses", schema="signals")
