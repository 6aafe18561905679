"""Both database schemas."""


async def upgrade_schemas(database_url: str, knowledge_database_url: str | None) -> None:
    """Bring the product's schema to the newest version, and that of the embedded Knowledge Store unless `None`."""
    # Imported here: Alembic would slow down every other command.
    from services.knowledge_store.storage.migrate import upgrade_knowledge_schema
    from shared.database.migrate import upgrade_schema

    await upgrade_schema(database_url)
    if knowledge_database_url is not None:
        await upgrade_knowledge_schema(knowledge_database_url)
