"""Alembic's entry: runs on the connection that `storage.migrate` hands over."""

from alembic import context

from services.knowledge_store.storage.migrate import include_name
from services.knowledge_store.storage.tables import SCHEMA, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="schema_version",
    version_table_schema=SCHEMA,
    include_schemas=True,
    include_name=include_name,
)
with context.begin_transaction():
    context.run_migrations()
