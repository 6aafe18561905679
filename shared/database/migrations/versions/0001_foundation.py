"""The first schema: conversations, turns, the outbox and what the workers write."""

from pathlib import Path

from alembic import op

from shared.database.metadata import SCHEMAS

revision = "0001"
down_revision = None


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split("\n\n"):
        if not statement.startswith("--"):
            op.execute(statement)


def downgrade() -> None:
    for schema in reversed(SCHEMAS):
        op.execute(f"DROP SCHEMA {schema} CASCADE")
