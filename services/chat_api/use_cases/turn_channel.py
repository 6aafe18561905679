"""From the task that runs a turn to the response that streams it."""

import asyncio
from collections.abc import AsyncIterator

from services.chat_api.domain.turn_events import TurnEvent

_CAPACITY = 256


class TurnChannel:
    """Bounded, so that a slow reader slows the turn down. Once the reader has left, events go nowhere."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue(_CAPACITY)
        self._left = False

    async def send(self, event: TurnEvent) -> None:
        if not self._left:
            await self._queue.put(event)

    async def end(self) -> None:
        if not self._left:
            await self._queue.put(None)

    async def events(self) -> AsyncIterator[TurnEvent]:
        while (event := await self._queue.get()) is not None:
            yield event

    def leave(self) -> None:
        """The reader is gone. A writer that waits for room goes on."""
        self._left = True
        while not self._queue.empty():
            self._queue.get_nowait()
