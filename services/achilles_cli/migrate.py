"""`achilles migrate`: the newest database schema."""

import asyncio
from pathlib import Path

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.console import make_console, print_result
from services.achilles_cli.databases import Databases, find_databases
from services.achilles_cli.errors import NothingRunningError
from services.achilles_cli.instance import find_running_instance
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of
from services.achilles_cli.schema import upgrade_schemas
from services.achilles_cli.supervisor.report import Report
from shared.embedded.data_folder import DataFolder
from shared.embedded.data_lock import DataFolderLock
from shared.embedded.postgres import EmbeddedPostgres


def migrate(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Bring the database to the newest schema: that of ACHILLES_DATABASE_URL, else the embedded one.

    An embedded database that does not run is started for it, and stopped again.
    """
    configuration, root = Configuration.from_environment(), data_folder_of(data_dir)
    report = Report(make_console())
    if configuration.database_url is None and find_running_instance(root) is None:
        asyncio.run(_migrate_stopped(configuration, root, report))
    else:
        asyncio.run(_migrate(find_databases(configuration, root), report))
    if as_json:
        print_result('{"is_current":true}')


async def _migrate(databases: Databases, report: Report) -> None:
    with report.timed("schema", "is current"):
        await upgrade_schemas(databases.url, databases.knowledge_url)
    if databases.knowledge_url is None:
        report.note("the Knowledge Store is your own (ACHILLES_KNOWLEDGE_URL): its schema is left alone")


async def _migrate_stopped(configuration: Configuration, root: Path, report: Report) -> None:
    postgres = EmbeddedPostgres(DataFolder(root))
    if not postgres.is_created:
        raise NothingRunningError(f"there is no database on {root} yet: `achilles up` creates one")
    folder = DataFolder.prepared(root)
    postgres = EmbeddedPostgres(folder)
    with DataFolderLock(root):
        with report.timed("postgres"):
            await postgres.start()
        try:
            own_store = configuration.knowledge_url is not None
            knowledge_url = None if own_store else configuration.knowledge_database_url or postgres.url
            await _migrate(Databases(postgres.url, knowledge_url), report)
        finally:
            await postgres.stop()
