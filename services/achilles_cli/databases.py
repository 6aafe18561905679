"""Which database a command works on."""

from dataclasses import dataclass, field
from pathlib import Path

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.errors import NothingRunningError, UsageError
from services.achilles_cli.instance import RunningInstance, find_running_instance
from services.achilles_cli.services_plan import KNOWLEDGE_STORE
from shared.embedded.data_folder import DataFolder
from shared.embedded.postgres import EmbeddedPostgres


@dataclass(frozen=True, slots=True)
class Databases:
    """`knowledge_url` is `None` when the Knowledge Store is somebody else's."""

    url: str = field(repr=False)
    knowledge_url: str | None = field(repr=False)


def find_databases(configuration: Configuration, root: Path) -> Databases:
    """The configured database, else that of the running instance.

    Raises NothingRunningError, or UsageError when the instance uses a database whose password is not known here.
    """
    instance = find_running_instance(root)
    url = configuration.database_url or (_database_of(instance, root) if instance else None)
    if url is None:
        raise NothingRunningError(f"nothing is running on {root}: start it with `achilles up`")
    store = instance.part(KNOWLEDGE_STORE) if instance else None
    is_external = configuration.knowledge_url is not None or (store is not None and not store.embedded)
    return Databases(url, None if is_external else configuration.knowledge_database_url or url)


def _database_of(instance: RunningInstance, root: Path) -> str:
    part = instance.part("postgres")
    if part is not None and not part.embedded:
        raise UsageError("the running instance uses your own PostgreSQL: set ACHILLES_DATABASE_URL here as well")
    postgres = EmbeddedPostgres(DataFolder(root))
    postgres.attach()
    return postgres.url
