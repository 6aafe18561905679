"""The schema `knowledge`, which only this service reads and writes."""

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR, UUID

from services.knowledge_store.domain.embedder import EMBEDDING_DIMENSIONS

SCHEMA = "knowledge"
CHANGED_CHANNEL = "knowledge_changed"

metadata = MetaData(
    schema=SCHEMA,
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "ix": "%(table_name)s_%(column_0_name)s_idx",
    },
)

store_state = Table(
    "store_state",
    metadata,
    Column("only_row", SmallInteger, CheckConstraint("only_row = 1", name="single"), primary_key=True),
    Column("store_id", UUID(as_uuid=True), nullable=False),
    Column("knowledge_version", BigInteger, nullable=False),
    Column("announced_version", BigInteger),
    Column("announced_empty", Boolean),
)

collection = Table(
    "collection",
    metadata,
    Column("collection", Text, primary_key=True),
    Column("root", Text, nullable=False),
    # Who may read a document without declared rights; NULL where no ingest has said so yet.
    Column("default_is_public", Boolean),
)

document = Table(
    "document",
    metadata,
    Column("document_id", BigInteger, Identity(always=True), primary_key=True),
    # Collation "C": ties are broken by id, and must fall the same way on every cluster.
    Column("record_id", Text(collation="C"), nullable=False, unique=True),
    Column("collection", Text, ForeignKey("knowledge.collection.collection"), nullable=False, index=True),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("source_hash", Text),
    Column("url", Text, nullable=False),
    Column("source_system", Text, nullable=False),
    Column("author_principal_id", Text),
    Column("contact", Text),
    Column("hint", Boolean, nullable=False),
    Column("is_public", Boolean, nullable=False),
    Column("readers", ARRAY(Text), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
)

chunk = Table(
    "chunk",
    metadata,
    Column("chunk_id", Text(collation="C"), primary_key=True),
    Column(
        "document_id",
        BigInteger,
        ForeignKey("knowledge.document.document_id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("ordinal", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("length", Integer, nullable=False),
    Column("content_hash", Text, nullable=False, index=True),
    Column("embedding", VECTOR(EMBEDDING_DIMENSIONS), nullable=False),
    Column("search_vector", TSVECTOR, nullable=False),
    Index("chunk_search_vector_idx", "search_vector", postgresql_using="gin"),
)

language_statistics = Table(
    "language_statistics",
    metadata,
    Column("language", Text, primary_key=True),
    Column("chunks", BigInteger, nullable=False),
    Column("words", BigInteger, nullable=False),
)

lexeme_frequency = Table(
    "lexeme_frequency",
    metadata,
    Column("language", Text, primary_key=True),
    Column("lexeme", Text(collation="C"), primary_key=True),
    Column("chunks", BigInteger, nullable=False),
)

# Accesses that count: what a redelivery is recognised by, and what trust is computed from.
access_signal = Table(
    "access_signal",
    metadata,
    Column("event_id", UUID(as_uuid=True), primary_key=True),
    Column("record_id", Text(collation="C"), nullable=False),
    Column("kind", Text, CheckConstraint("kind IN ('cited', 'clicked')", name="kind"), nullable=False),
    Column("occurred_at", DateTime(timezone=True), nullable=False, index=True),
    Column("received_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

# The sum of the decayed weights of a record's accesses, as it was at `as_of`. Not tied to a document: a file that is
# read in again later is trusted as before.
trust = Table(
    "trust",
    metadata,
    Column("record_id", Text(collation="C"), primary_key=True),
    Column("score", Double, nullable=False),
    Column("as_of", DateTime(timezone=True), nullable=False),
)

# The rule that `trust` was computed by, how far the front's list of access signals was read, and when the newest canary
# was sent that came through the consumer.
trust_state = Table(
    "trust_state",
    metadata,
    Column("only_row", SmallInteger, CheckConstraint("only_row = 1", name="single"), primary_key=True),
    Column("rule", Text),
    Column("bookmark", UUID(as_uuid=True)),
    Column("canary_at", DateTime(timezone=True)),
)
