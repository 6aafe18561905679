"""Stands between FastStream's pull loop and nats-py's fetch, where the two do not fit together."""

import asyncio
import builtins
from collections.abc import Callable
from typing import Protocol

from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError
from nats.errors import TimeoutError as NothingToFetchError

_CLOSED_PAUSE_SECONDS = 0.5


class Pull(Protocol):
    async def fetch(self, batch: int, timeout: float | None) -> list[Msg]: ...  # noqa: ASYNC109 (nats-py's signature)

    async def unsubscribe(self) -> None: ...


class GuardedPull:
    """Keeps three promises that the pull loop relies on:

    - what was fetched is handed over at once. The loop goes on filling its batch until its time is over, and drops
      what it already holds if that last fetch fails in a way it does not expect;
    - an empty fetch is always nats-py's own timeout. With hardly any time left it raises the built-in one instead,
      which ends the loop's task together with the batch in its hands;
    - a closed connection costs time. It is reported without waiting, and the loop would spin and freeze the process.
    """

    def __init__(self, pull: Pull, on_fault: Callable[[Exception], None] = lambda _fault: None) -> None:
        """`on_fault` hears of every fetch that failed; one that found nothing did not."""
        self._pull = pull
        self._on_fault = on_fault
        self._handed_over = False

    async def fetch(self, batch: int, timeout: float | None) -> list[Msg]:  # noqa: ASYNC109
        """Raises nats-py's TimeoutError when there is nothing, and right after a batch, to end the filling."""
        if self._handed_over:
            self._handed_over = False
            raise NothingToFetchError
        try:
            messages = await self._pull.fetch(batch=batch, timeout=timeout)
        except builtins.TimeoutError:
            raise NothingToFetchError from None
        except ConnectionClosedError as fault:
            self._on_fault(fault)
            await asyncio.sleep(_CLOSED_PAUSE_SECONDS)
            raise
        except Exception as fault:
            self._on_fault(fault)
            raise
        self._handed_over = bool(messages)
        return messages

    async def unsubscribe(self) -> None:
        await self._pull.unsubscribe()
