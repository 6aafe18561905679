"""Sessions say who vouches for them and may be anonymous; API keys; logins under way at an issuer."""

from alembic import op

revision = "0005"
down_revision = "0004"

_UP = """
ALTER TABLE chat.sessions ALTER COLUMN identity DROP NOT NULL;
ALTER TABLE chat.sessions ADD COLUMN owner_id TEXT;
ALTER TABLE chat.sessions ADD COLUMN authority TEXT;
UPDATE chat.sessions SET owner_id = identity ->> 'user_id', authority = 'demo';
ALTER TABLE chat.sessions ALTER COLUMN owner_id SET NOT NULL;
ALTER TABLE chat.sessions ALTER COLUMN authority SET NOT NULL;
ALTER TABLE chat.sessions ADD CONSTRAINT ck_sessions_identity_unless_anonymous
    CHECK ((identity IS NULL) = (authority = 'anonymous'));
CREATE TABLE chat.api_keys (
    id UUID NOT NULL,
    key_hash BYTEA NOT NULL,
    start TEXT NOT NULL,
    name TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    identity JSONB NOT NULL,
    authority TEXT NOT NULL,
    scopes TEXT[] NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    CONSTRAINT pk_api_keys PRIMARY KEY (id),
    CONSTRAINT uq_api_keys_key_hash UNIQUE (key_hash)
);
CREATE INDEX ix_api_keys_owner_id_created_at_id ON chat.api_keys (owner_id, created_at DESC, id DESC);
CREATE TABLE chat.login_attempts (
    state_hash BYTEA NOT NULL,
    browser_hash BYTEA NOT NULL,
    nonce TEXT NOT NULL,
    code_verifier TEXT NOT NULL,
    return_to TEXT NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT pk_login_attempts PRIMARY KEY (state_hash)
);
CREATE INDEX ix_login_attempts_expires_at ON chat.login_attempts (expires_at);
"""

_DOWN = """
DROP TABLE chat.login_attempts;
DROP TABLE chat.api_keys;
DELETE FROM chat.sessions WHERE authority <> 'demo';
ALTER TABLE chat.sessions DROP CONSTRAINT ck_sessions_identity_unless_anonymous;
ALTER TABLE chat.sessions DROP COLUMN authority;
ALTER TABLE chat.sessions DROP COLUMN owner_id;
ALTER TABLE chat.sessions ALTER COLUMN identity SET NOT NULL;
"""


def upgrade() -> None:
    _run(_UP)


def downgrade() -> None:
    _run(_DOWN)


def _run(statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            op.execute(statement)
