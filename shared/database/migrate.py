"""Bring the product's own schema to the newest version, and say whether the code and the database drifted apart."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

import shared.database.tables  # noqa: F401 (fills the metadata)
from shared.database.engine import make_engine
from shared.database.metadata import SCHEMAS, metadata

_MIGRATION_LOCK = 7_230_140_511
# Waiting for another migration, or building an index, takes longer than any statement of a service may.
_LONGEST = timedelta(hours=1)


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def latest_version() -> str:
    """The version that this code wants to find in the database."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise RuntimeError("no migration found beside shared/database/migrate.py")
    return head


async def _with_connection(database_url: str, work: Callable[[Connection], Any]) -> Any:
    engine = make_engine(database_url, application_name="achilles-migrate", pool_size=1, statement_timeout=_LONGEST)
    try:
        async with engine.begin() as connection:
            # Two fronts that start at once must not migrate at once.
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def upgrade_schema(database_url: str, revision: str = "head") -> None:
    """Apply every missing migration in one transaction; nothing happens on a schema that is current."""
    await _with_connection(database_url, lambda connection: command.upgrade(_config(connection), revision))


async def downgrade_schema(database_url: str, revision: str) -> None:
    await _with_connection(database_url, lambda connection: command.downgrade(_config(connection), revision))


async def schema_version(database_url: str) -> str | None:
    """The version found in the database; None for one that was never migrated."""

    def read(connection: Connection) -> str | None:
        options = {"version_table": "schema_version", "version_table_schema": "public"}
        return MigrationContext.configure(connection, opts=options).get_current_revision()

    found: str | None = await _with_connection(database_url, read)
    return found


async def schema_drift(database_url: str) -> list[object]:
    """Differences between the tables in code and in the database; an empty list when there are none."""

    def compare(connection: Connection) -> list[object]:
        options = {
            "include_schemas": True,
            "include_name": lambda name, type_, _parents: type_ != "schema" or name in SCHEMAS,
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))

    found: list[object] = await _with_connection(database_url, compare)
    return found
