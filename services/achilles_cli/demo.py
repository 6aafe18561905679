"""The demo documents, read once into an empty Knowledge Store."""

from pathlib import Path

import services.knowledge_store
from services.achilles_cli.ingestion import ingest_with_progress
from services.achilles_cli.supervisor.report import Report
from shared.embedded.private_files import write_private

DEMO_CORPUS = Path(services.knowledge_store.__file__).parent / "demo_corpus"
DEMO_VECTORS = Path(services.knowledge_store.__file__).parent / "demo_vectors.bin"
_STATE_FILE = "demo-documents"
_READING, _READ = "reading", "read"


async def ingest_demo_once(data_folder: Path, database_url: str, report: Report, corpus: Path = DEMO_CORPUS) -> None:
    """Nothing happens for a store that holds something else, or where the demo was read before: what was deleted
    stays deleted. An interrupted reading goes on."""
    file = data_folder / _STATE_FILE
    state = _state_of(file)
    if state == _READ or (state is None and not await _is_store_empty(database_url)):
        return
    write_private(file, _READING)
    with report.timed("demo documents", "read"):
        outcome = await ingest_with_progress(corpus, database_url, report.console, vector_file=DEMO_VECTORS)
    for failure in outcome.failures:
        report.note(f"could not be read: {failure}")
    write_private(file, _READ)


def _state_of(file: Path) -> str | None:
    return file.read_text() if file.exists() else None


async def _is_store_empty(database_url: str) -> bool:
    from services.knowledge_store.storage.state_store import StateStore
    from shared.database.engine import make_engine

    engine = make_engine(database_url, application_name="achilles-up", pool_size=1)
    try:
        async with engine.connect() as connection:
            return (await StateStore(connection).load()).is_empty
    finally:
        await engine.dispose()
