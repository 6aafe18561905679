"""One piece of work at the front, signed in for as long as it takes."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

from services.achilles_cli.front_client import FrontClient

Result = TypeVar("Result")


def at_front(url: str, user: str | None, work: Callable[[FrontClient], Awaitable[Result]]) -> Result:
    """With the token in ACHILLES_TOKEN, or as that demo person. Raises CommandError."""

    async def run() -> Result:
        async with FrontClient(url, os.environ.get("ACHILLES_TOKEN")) as front:
            await front.sign_in(user)
            try:
                return await work(front)
            finally:
                await front.sign_out()

    return asyncio.run(run())
