"""Canaries: when each stream's last one was sent, and which one each consumer applied last."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def _time(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)


def upgrade() -> None:
    op.create_table("canaries_sent", sa.Column("stream", sa.Text, primary_key=True), _time("sent_at"), schema="mesh")
    op.create_table(
        "canaries",
        sa.Column("consumer", sa.Text, primary_key=True),
        sa.Column("stream", sa.Text, nullable=False),
        _time("sent_at"),
        _time("applied_at"),
        schema="mesh",
    )


def downgrade() -> None:
    op.drop_table("canaries", schema="mesh")
    op.drop_table("canaries_sent", schema="mesh")
