"""Count a person's turns, for the limits of the front."""

from alembic import op

revision = "0002"
down_revision = "0001"

_FUNCTION = """
CREATE FUNCTION chat.turns_of_owner(
    owner text, since timestamptz, OUT running bigint, OUT recent bigint, OUT oldest timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('chat.turns:' || owner, 0));
    SELECT count(*) INTO running FROM chat.turns WHERE owner_id = owner AND state = 'running';
    SELECT count(*), min(started_at) INTO recent, oldest FROM chat.turns WHERE owner_id = owner AND started_at > since;
END $$
"""


def upgrade() -> None:
    op.create_index("ix_turns_owner_id_started_at", "turns", ["owner_id", "started_at"], schema="chat")
    op.create_index(
        "ix_turns_running_owner_id", "turns", ["owner_id"], schema="chat", postgresql_where="state = 'running'"
    )
    op.execute(_FUNCTION)


def downgrade() -> None:
    op.execute("DROP FUNCTION chat.turns_of_owner(text, timestamptz)")
    op.drop_index("ix_turns_running_owner_id", "turns", schema="chat")
    op.drop_index("ix_turns_owner_id_started_at", "turns", schema="chat")
