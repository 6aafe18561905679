"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from shared.embedded.data_folder import default_data_folder

DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        file_okay=False,
        help="Where everything is kept.",
        show_default="ACHILLES_DATA_DIR, else /var/lib/achilles for root, else your own data folder",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One line of JSON on standard output.")]


def data_folder_of(data_dir: Path | None) -> Path:
    return data_dir.expanduser().absolute() if data_dir else default_data_folder()
