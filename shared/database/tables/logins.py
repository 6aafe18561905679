"""API keys, and logins at an issuer that are under way. Written by the front."""

from sqlalchemy import Column, DateTime, Index, LargeBinary, Table, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shared.database.metadata import metadata

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("key_hash", LargeBinary, nullable=False, unique=True),
    Column("start", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("owner_id", Text, nullable=False),
    Column("identity", JSONB, nullable=False),
    Column("authority", Text, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("expires_at", DateTime(timezone=True)),
    Column("last_used_at", DateTime(timezone=True)),
    Index("ix_api_keys_owner_id_created_at_id", "owner_id", text("created_at DESC"), text("id DESC")),
    schema="chat",
)

login_attempts = Table(
    "login_attempts",
    metadata,
    Column("state_hash", LargeBinary, primary_key=True),
    Column("browser_hash", LargeBinary, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("code_verifier", Text, nullable=False),
    Column("return_to", Text, nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Index("ix_login_attempts_expires_at", "expires_at"),
    schema="chat",
)
