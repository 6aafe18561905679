"""Read a folder into the embedded Knowledge Store, with a progress bar."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from services.achilles_cli.errors import FailedError, UsageError

if TYPE_CHECKING:  # at run time these come with the Knowledge Store, which the other commands do not load
    from services.knowledge_store.domain.ingest_report import IngestProgress, IngestReport
    from services.knowledge_store.use_cases.ingest_folder import ProgressListener


async def ingest_with_progress(
    folder: Path,
    database_url: str,
    console: Console,
    *,
    collection: str | None = None,
    is_private: bool = False,
    allow_empty: bool = False,
) -> "IngestReport":
    """`is_private`: nobody may read a file for which no rights are declared.

    Raises UsageError for a folder that is none or is refused, FailedError when the store cannot take it.
    """
    from services.knowledge_store.domain.access import CLOSED, PUBLIC
    from services.knowledge_store.domain.errors import IngestAlreadyRunningError, IngestError, StoreUnavailableError
    from services.knowledge_store.wiring import ingest_folder

    try:
        with _progress_bar(folder.name, console) as listener:
            return await ingest_folder(
                folder,
                database_url=database_url,
                on_progress=listener,
                collection=collection,
                default_access=CLOSED if is_private else PUBLIC,
                allow_empty=allow_empty,
            )
    except (IngestAlreadyRunningError, StoreUnavailableError) as fault:
        raise FailedError(str(fault)) from None
    except IngestError as fault:
        raise UsageError(str(fault)) from None


@contextmanager
def _progress_bar(name: str, console: Console) -> "Iterator[ProgressListener]":
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[passages]} passages, {task.fields[path]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"reading {escape(name)}", total=None, path="", passages=0)

        def show(progress: "IngestProgress") -> None:
            bar.update(
                task,
                completed=progress.files_done,
                total=progress.files_total,
                path=escape(progress.path),
                passages=progress.chunks_embedded,
            )

        yield show
