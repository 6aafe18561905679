"""Records, chunks, word statistics and the state of the store."""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import VECTOR
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "knowledge"


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    _create_state()
    _create_documents()
    _create_chunks()
    _create_statistics()


def downgrade() -> None:
    for table in ("lexeme_frequency", "language_statistics", "chunk", "document", "collection", "store_state"):
        op.drop_table(table, schema=SCHEMA)


def _create_state() -> None:
    op.create_table(
        "store_state",
        sa.Column("only_row", sa.SmallInteger, nullable=False),
        sa.Column("store_id", postgresql.UUID(as_uuid=True), nullable=False),
        sa.Column("knowledge_version", sa.BigInteger, nullable=False),
        sa.Column("announced_version", sa.BigInteger),
        sa.Column("announced_empty", sa.Boolean),
        sa.PrimaryKeyConstraint("only_row", name="store_state_pkey"),
        sa.CheckConstraint("only_row = 1", name="store_state_single_check"),
        schema=SCHEMA,
    )
    op.execute("INSERT INTO knowledge.store_state VALUES (1, gen_random_uuid(), 0, NULL, NULL)")


def _create_documents() -> None:
    op.create_table(
        "collection",
        sa.Column("collection", sa.Text, nullable=False),
        sa.Column("root", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("collection", name="collection_pkey"),
        schema=SCHEMA,
    )
    op.create_table(
        "document",
        sa.Column("document_id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("record_id", sa.Text(collation="C"), nullable=False),
        sa.Column("collection", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("title", "text", "media_type", "content_hash")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("url", "source_system")),
        sa.Column("author_principal_id", sa.Text),
        sa.Column("contact", sa.Text),
        sa.Column("hint", sa.Boolean, nullable=False),
        sa.Column("is_public", sa.Boolean, nullable=False),
        sa.Column("readers", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("document_id", name="document_pkey"),
        sa.UniqueConstraint("record_id", name="document_record_id_key"),
        sa.ForeignKeyConstraint(["collection"], ["knowledge.collection.collection"], name="document_collection_fkey"),
        schema=SCHEMA,
    )
    op.create_index("document_collection_idx", "document", ["collection"], schema=SCHEMA)


def _create_chunks() -> None:
    op.create_table(
        "chunk",
        sa.Column("chunk_id", sa.Text(collation="C"), nullable=False),
        sa.Column("document_id", sa.BigInteger, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("embedding", VECTOR(384), nullable=False),
        sa.Column("search_vector", postgresql.TSVECTOR, nullable=False),
        sa.PrimaryKeyConstraint("chunk_id", name="chunk_pkey"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["knowledge.document.document_id"], name="chunk_document_id_fkey", ondelete="CASCADE"
        ),
        schema=SCHEMA,
    )
    op.create_index("chunk_document_id_idx", "chunk", ["document_id"], schema=SCHEMA)
    op.create_index("chunk_content_hash_idx", "chunk", ["content_hash"], schema=SCHEMA)
    op.create_index("chunk_search_vector_idx", "chunk", ["search_vector"], schema=SCHEMA, postgresql_using="gin")


def _create_statistics() -> None:
    op.create_table(
        "language_statistics",
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("chunks", sa.BigInteger, nullable=False),
        sa.Column("words", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("language", name="language_statistics_pkey"),
        schema=SCHEMA,
    )
    op.create_table(
        "lexeme_frequency",
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("lexeme", sa.Text(collation="C"), nullable=False),
        sa.Column("chunks", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("language", "lexeme", name="lexeme_frequency_pkey"),
        schema=SCHEMA,
    )
