"""`achilles usage show` and `achilles usage export`: what the front knows of usage, for people and as a file."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated

import typer

from services.achilles_cli.ask import UrlOption, front_url
from services.achilles_cli.at_front import at_front
from services.achilles_cli.console import make_console, make_output_console, print_result
from services.achilles_cli.errors import UsageError
from services.achilles_cli.front_client import FrontClient
from services.achilles_cli.options import DataDirOption, JsonOption
from services.achilles_cli.usage_table import usage_table

Question = list[tuple[str, str]]


class Bucket(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    TOTAL = "total"


class Grouping(StrEnum):
    DAY = "day"
    USER = "user"
    DEPARTMENT = "department"
    PROVIDER = "provider"
    MODEL = "model"


class ExportFormat(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"
    FOCUS_CSV = "focus-csv"
    FOCUS_PARQUET = "focus-parquet"


FromOption = Annotated[
    datetime | None,
    typer.Option("--from", formats=["%Y-%m-%d"], help="First day; the first of the month of --to if absent."),
]
ToOption = Annotated[
    datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day, which is counted; today if absent.")
]
BucketOption = Annotated[Bucket, typer.Option(help="What a row sums up.")]
GroupOption = Annotated[list[Grouping] | None, typer.Option("--group-by", help="Repeatable.")]
UserOption = Annotated[str | None, typer.Option("--user", help="Only this person's; another's needs the role finance.")]
DepartmentOption = Annotated[str | None, typer.Option(help="Only this department's; empty for people without one.")]
ModelOption = Annotated[str | None, typer.Option(help="Only this model's.")]
AsOption = Annotated[
    str | None, typer.Option("--as", help="Demo person to ask as, such as frank; the first if absent.")
]


def show(  # noqa: PLR0913 (options of a command)
    first: FromOption = None,
    last: ToOption = None,
    bucket: BucketOption = Bucket.TOTAL,
    group_by: GroupOption = None,
    user: UserOption = None,
    department: DepartmentOption = None,
    model: ModelOption = None,
    ask_as: AsOption = None,
    url: UrlOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show usage and cost: one's own, or everybody's with the role finance."""
    question = _question(first, last, bucket, group_by, user=user, department=department, model=model)
    rows = at_front(url or front_url(data_dir), ask_as, lambda front: front.read_usage(question))
    if as_json:
        print_result(json.dumps(rows, ensure_ascii=False))
    elif not rows:
        make_console().print("Nothing was used in this period.")
    else:
        make_output_console().print(usage_table(rows, group_by or []))


def export(  # noqa: PLR0913 (options of a command)
    output: Annotated[Path, typer.Option("--output", "-o", dir_okay=False, help="The file to write.")],
    export_format: Annotated[ExportFormat, typer.Option("--format", help="FOCUS is version 1.3.")] = ExportFormat.CSV,
    first: FromOption = None,
    last: ToOption = None,
    bucket: BucketOption = Bucket.DAY,
    group_by: GroupOption = None,
    user: UserOption = None,
    department: DepartmentOption = None,
    model: ModelOption = None,
    ask_as: AsOption = None,
    url: UrlOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write usage and cost to a file. It appears under its name only when it is whole."""
    question = _question(first, last, bucket, group_by, user=user, department=department, model=model)
    asked = [*question, ("format", export_format.value)]
    path = output.expanduser().absolute()
    with _whole_file(path) as file:
        size = at_front(url or front_url(data_dir), ask_as, lambda front: _write(front, asked, file))
    if as_json:
        print_result(json.dumps({"output": str(path), "format": export_format.value, "bytes": size}))
    else:
        make_console().print(f"wrote {path} ({size:,} bytes)", markup=False)


def _question(
    first: datetime | None,
    last: datetime | None,
    bucket: Bucket,
    group_by: list[Grouping] | None,
    **filters: str | None,
) -> Question:
    days = [(name, str(day.date())) for name, day in (("from", first), ("to", last)) if day]
    narrowed = [(name, value) for name, value in filters.items() if value is not None]
    return [*days, *narrowed, ("bucket", bucket.value), *(("group_by", one.value) for one in group_by or [])]


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that stands under its name once it is whole, and not at all after a fault."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
            try:
                yield part
                part.flush()
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}") from None


async def _write(front: FrontClient, question: Question, file: IO[bytes]) -> int:
    console = make_console()
    size = 0
    with console.status("Writing…") as status:
        async for piece in front.read_usage_file(question):
            file.write(piece)
            size += len(piece)
            status.update(f"Writing… {size:,} bytes")
    return size
