"""Alembic's entry. `shared.database.migrate` hands in an open connection; there is no ini file and no offline mode."""

from alembic import context

import shared.database.tables  # noqa: F401 (fills the metadata)
from shared.database.metadata import SCHEMAS, metadata


def _include_name(name: str | None, type_: str, _parents: object) -> bool:
    return type_ != "schema" or name in SCHEMAS


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="schema_version",
    version_table_schema="public",
    include_schemas=True,
    include_name=_include_name,
)
with context.begin_transaction():
    context.run_migrations()
