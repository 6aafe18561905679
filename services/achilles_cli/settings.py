"""`achilles settings`: what can be set, and what it means."""

from typing import Annotated

import typer

from services.achilles_cli.console import make_output_console, print_result
from services.achilles_cli.errors import UsageError


def settings(
    word: Annotated[str | None, typer.Argument(help="Only settings whose name or meaning holds this word.")] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The page docs/settings.md.")] = False,
) -> None:
    """List every setting of every service: its environment variable, meaning and default."""
    from rich.markup import escape
    from rich.table import Table

    from services.achilles_cli.settings_catalog import list_settings
    from services.achilles_cli.settings_page import settings_page

    if as_markdown:
        print_result(settings_page(list_settings()).rstrip("\n"))
        return
    table = Table("variable", "what it is", "default", box=None, padding=(0, 2, 0, 0))
    for entry in list_settings():
        if (word or "").lower() in f"{entry.variable} {entry.meaning}".lower():
            table.add_row(
                entry.variable, escape(entry.meaning), "required" if entry.default is None else escape(entry.default)
            )
    if not table.row_count:
        raise UsageError(f"no setting has {word!r} in its name or meaning")
    make_output_console().print(table)
