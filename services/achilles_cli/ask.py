"""`achilles ask`: one question, streamed to the terminal with its sources."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from services.achilles_cli.answer_printer import AnswerPrinter
from services.achilles_cli.console import make_console, print_result
from services.achilles_cli.errors import CommandError, UsageError
from services.achilles_cli.exit_codes import ExitCode
from services.achilles_cli.front_client import ChatAnswer, FrontClient
from services.achilles_cli.instance import find_running_instance
from services.achilles_cli.options import DataDirOption, JsonOption, data_folder_of

_DEFAULT_PORT = "8000"
UrlOption = Annotated[
    str | None,
    typer.Option("--url", envvar="ACHILLES_URL", help="Address of the front.", show_default="the running one"),
]


def ask(
    question: Annotated[str, typer.Argument(help="What to ask; - reads it from standard input.")],
    user: Annotated[str | None, typer.Option("--as", help="Demo person to ask as; the first one if absent.")] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Id of a conversation to go on with.")
    ] = None,
    url: UrlOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a question and read the answer as it is written, with its sources."""
    text = sys.stdin.read() if question == "-" else question
    if not text.strip():
        raise UsageError("the question is empty")
    printer = AnswerPrinter(make_console(), quiet=as_json)
    answer = asyncio.run(_ask(url or front_url(data_dir), user, text, conversation, printer))
    if as_json:
        print_result(answer.as_json())
    else:
        printer.finish(answer)
    if answer.outcome in ("failed", "interrupted"):
        raise CommandError(answer.error or "the answer was interrupted", ExitCode.FAILED)


async def _ask(url: str, user: str | None, text: str, conversation: str | None, printer: AnswerPrinter) -> ChatAnswer:
    async with FrontClient(url, os.environ.get("ACHILLES_TOKEN")) as front:
        await front.sign_in(user)
        try:
            return await front.ask(text, conversation, printer)
        finally:
            await front.sign_out()


def front_url(data_dir: Path | None) -> str:
    instance = find_running_instance(data_folder_of(data_dir))
    if instance is not None:
        return instance.url
    return f"http://127.0.0.1:{os.environ.get('ACHILLES_PORT', _DEFAULT_PORT)}"
