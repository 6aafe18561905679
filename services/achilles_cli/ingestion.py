"""Read a folder into the embedded Knowledge Store, with a progress bar."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from services.achilles_cli.errors import FailedError, UsageError

if TYPE_CHECKING:  # at run time these come with the Knowledge Store, which the other commands do not load
    from services.knowledge_store.domain.ingest_report import IngestProgress, IngestReport
    from services.knowledge_store.use_cases.ingest_folder import ProgressListener

_LINE_EVERY_SECONDS = 5.0


async def ingest_with_progress(
    folder: Path,
    database_url: str,
    console: Console,
    *,
    collection: str | None = None,
    is_private: bool | None = None,
    allow_empty: bool = False,
    vector_file: Path | None = None,
) -> "IngestReport":
    """`is_private`: nobody may read a file for which no rights are declared; None keeps what was said before.

    Raises UsageError for a folder that is none or is refused, FailedError when the store cannot take it.
    """
    from services.knowledge_store.domain.access import CLOSED, PUBLIC
    from services.knowledge_store.domain.errors import IngestAlreadyRunningError, IngestError, StoreUnavailableError
    from services.knowledge_store.wiring import ingest_folder

    try:
        with _progress(folder.name, console) as listener:
            return await ingest_folder(
                folder,
                database_url=database_url,
                on_progress=listener,
                collection=collection,
                default_access=None if is_private is None else CLOSED if is_private else PUBLIC,
                allow_empty=allow_empty,
                vector_file=vector_file,
            )
    except (IngestAlreadyRunningError, StoreUnavailableError) as fault:
        raise FailedError(str(fault)) from None
    except IngestError as fault:
        raise UsageError(str(fault)) from None


def _progress(name: str, console: Console) -> "AbstractContextManager[ProgressListener]":
    if console.is_terminal:
        return _progress_bar(name, console)
    return nullcontext(_plain_lines(name, console))


def _plain_lines(name: str, console: Console) -> "ProgressListener":
    """For logs and pipes: a line now and then, for as long as there is something to wait for."""
    due = monotonic() + _LINE_EVERY_SECONDS

    def show(progress: "IngestProgress") -> None:
        nonlocal due
        if monotonic() >= due:
            due = monotonic() + _LINE_EVERY_SECONDS
            done = f"{progress.files_done} of {progress.files_total} files, {progress.chunks_embedded} passages"
            console.print(f"reading {escape(name)}: {done}, {escape(progress.path)}", soft_wrap=True)

    return show


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
    with Progress(*columns, console=console, transient=True) as bar:
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
