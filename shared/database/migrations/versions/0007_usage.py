"""Usage: kinds of tokens, sums by business day, and views for finance with a role that reads nothing else."""

import logging
from pathlib import Path

from alembic import op
from sqlalchemy import text

revision = "0007"
down_revision = "0006"

logger = logging.getLogger(__name__)


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split("\n\n"):
        op.execute(statement)
    if not op.get_bind().scalar(text("SELECT count(*) FROM pg_roles WHERE rolname = 'finance_reader'")):
        logger.warning(
            "finance_reader_not_created", extra={"reason": "this database user may not create roles: docs/finance.md"}
        )


def downgrade() -> None:
    """The role stays: it belongs to the server, and other databases may grant it something."""
    op.execute("DROP SCHEMA finance CASCADE")
    op.execute("DROP TABLE signals.usage_daily")
    op.execute("DROP TABLE signals.business_time_zone")
    for constraint in ("cost_is_money", "tokens_are_counts", "occurred_in_our_time"):
        op.execute(f"ALTER TABLE signals.usage DROP CONSTRAINT ck_usage_{constraint}")
    op.execute("ALTER TABLE signals.usage DROP COLUMN reasoning_tokens")
    op.execute("ALTER TABLE signals.usage DROP COLUMN cache_write_tokens")
