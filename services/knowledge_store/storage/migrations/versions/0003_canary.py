"""The newest canary that came through the store's own consumer."""

from alembic import op
from sqlalchemy import Column, DateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("trust_state", Column("canary_at", DateTime(timezone=True)), schema="knowledge")


def downgrade() -> None:
    op.drop_column("trust_state", "canary_at", schema="knowledge")
