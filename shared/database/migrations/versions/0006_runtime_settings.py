"""Settings that administrators change while the fronts run, and the notices that an answer was given with."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split("\n\n"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE chat.messages DROP COLUMN notices")
    op.execute("DROP TABLE chat.platform_prompts")
    op.execute("DROP TABLE chat.setting_revisions")
    op.execute("DROP FUNCTION chat.announce_settings()")
