"""`achilles ingest`: a folder of documents into the embedded Knowledge Store."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from services.achilles_cli.configuration import Configuration
from services.achilles_cli.console import make_console, make_output_console, print_result
from services.achilles_cli.databases import find_databases
from services.achilles_cli.errors import UsageError
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.ingestion import ingest_with_progress
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of

if TYPE_CHECKING:  # at run time it comes with the Knowledge Store, which the other commands do not load
    from services.knowledge_store.domain.ingest_report import IngestReport

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="Markdown, text, HTML, PDF and DOCX files, with all subfolders.")
]
CollectionOption = Annotated[
    str | None, typer.Option("--collection", help="Name of the documents as a whole.", show_default="the folder's name")
]
PrivateOption = Annotated[
    bool | None,
    typer.Option(
        "--private/--public",
        help="Whether files without declared rights are for nobody or for everybody.",
        show_default="as at the last ingest of DIR; at the first, for everybody",
    ),
]


AllowEmptyOption = Annotated[
    bool, typer.Option("--allow-empty", help="Remove what the store holds from DIR although DIR is empty now.")
]


def ingest(
    folder: FolderArgument,
    collection: CollectionOption = None,
    is_private: PrivateOption = None,
    allow_empty: AllowEmptyOption = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the Knowledge Store hold exactly what DIR holds; only what changed is read again.

    Each file that could not be read is listed with the reason, and the exit status is then 1.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    configuration = Configuration.from_environment()
    databases = find_databases(configuration, data_folder_of(data_dir))
    if databases.knowledge_url is None:
        raise UsageError("the Knowledge Store is your own (ACHILLES_KNOWLEDGE_URL): fill it with its own tools")
    console = make_console()
    work = ingest_with_progress(
        folder,
        databases.knowledge_url,
        console,
        collection=collection,
        is_private=is_private,
        allow_empty=allow_empty,
    )
    report = asyncio.run(work)
    if as_json:
        print_result(TypeAdapter(type(report)).dump_json(report).decode())
    _show(report, console if as_json else make_output_console())
    raise typer.Exit(ExitCode.INCOMPLETE if report.failures else ExitCode.OK)


def _show(report: "IngestReport", console: Console) -> None:
    counts = (
        (report.added, "added"),
        (report.updated, "updated"),
        (report.rights_changed, "with new rights"),
        (report.unchanged, "unchanged"),
        (report.removed, "removed"),
        (report.closed, "closed to everybody"),
    )
    told = ", ".join(f"{count} {what}" for count, what in counts if count) or "no documents"
    console.print(f"[green]✓[/] {escape(report.collection)}: {told}")
    if report.without_access:
        console.print(f"[yellow]![/] {report.without_access} without declared rights: {_who_reads(report)}")
    for remark in report.remarks:
        console.print(f"[yellow]![/] {escape(str(remark))}")
    if report.failures:
        table = Table("could not be read", "line", "why", box=None, padding=(0, 2, 0, 0))
        for failure in report.failures:
            table.add_row(escape(failure.path), str(failure.line or ""), escape(failure.reason))
        console.print(table)


def _who_reads(report: "IngestReport") -> str:
    if report.default_access.is_public:
        return "readable by everybody"
    return "readable by nobody" + (", as at the last ingest (--public opens them)" if report.is_default_kept else "")
