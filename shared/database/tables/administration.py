"""What administrators change while the fronts run: every value with who set it and when. Written by the front."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Identity,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.database.metadata import metadata

setting_revisions = Table(
    "setting_revisions",
    metadata,
    Column("id", Uuid, primary_key=True, server_default=text("gen_random_uuid()")),
    Column("position", BigInteger, Identity(always=True), nullable=False),
    Column("name", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("value", JSONB, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("revision >= 1", name="revision"),
    UniqueConstraint("name", "revision"),
    UniqueConstraint("position"),
    schema="chat",
)

platform_prompts = Table(
    "platform_prompts",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("text", Text, nullable=False),
    Column("note", Text, nullable=False, server_default=text("''")),
    Column("created_by", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    CheckConstraint("btrim(text) <> ''", name="text"),
    schema="chat",
)
