"""`achilles keys`: API keys for programs that ask in one's own name."""

import json
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

import typer

from services.achilles_cli.ask import UrlOption, front_url
from services.achilles_cli.at_front import at_front
from services.achilles_cli.console import make_console, make_output_console, print_result
from services.achilles_cli.exit_codes import EXIT_CODES_HELP
from services.achilles_cli.options import DataDirOption, JsonOption

AsOption = Annotated[str | None, typer.Option("--as", help="Demo person whose keys they are; the first one if absent.")]

keys = typer.Typer(
    help="API keys for the OpenAI-compatible routes. ACHILLES_TOKEN is the bearer token to ask with, where there is "
    "no demo login.",
    no_args_is_help=True,
    epilog=EXIT_CODES_HELP,
)


@keys.command(epilog=EXIT_CODES_HELP)
def create(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    scopes: Annotated[list[str] | None, typer.Option("--scope", help="chat, models; both if absent.")] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3_650, help="It expires after so many days.")] = None,
    user: AsOption = None,
    url: UrlOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key. Its secret is printed this once."""
    expires_at = datetime.now(UTC) + timedelta(days=days) if days else None
    made = at_front(
        url or front_url(data_dir), user, lambda front: front.create_key(name, scopes or ["chat", "models"], expires_at)
    )
    if as_json:
        print_result(json.dumps(made))
        return
    make_console().print("This secret is shown once:")
    print_result(str(made["secret"]))


@keys.command(name="list", epilog=EXIT_CODES_HELP)
def list_keys(
    user: AsOption = None, url: UrlOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """Show one's own keys, newest first."""
    found = at_front(url or front_url(data_dir), user, lambda front: front.list_keys())
    if as_json:
        print_result(json.dumps(found))
        return
    if not found:
        make_console().print("There are no keys.")
        return
    from rich.table import Table

    table = Table("id", "begins", "name", "scopes", "expires", "last used", box=None, padding=(0, 2, 0, 0))
    for key in found:
        scopes = ", ".join(key["scopes"])
        expires, used = key["expires_at"] or "never", key["last_used_at"] or "never"
        table.add_row(key["id"], f"{key['start']}…", key["name"], scopes, expires, used)
    make_output_console().print(table, markup=False)


@keys.command(epilog=EXIT_CODES_HELP)
def revoke(
    key_id: Annotated[UUID, typer.Argument(metavar="ID", help="Id of a key, as `list` shows it.")],
    user: AsOption = None,
    url: UrlOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Revoke a key at once: one's own, or anybody's for an administrator."""
    at_front(url or front_url(data_dir), user, lambda front: front.revoke_key(key_id))
    make_console().print(f"revoked {key_id}")
