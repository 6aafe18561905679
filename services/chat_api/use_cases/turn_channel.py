"""From the task that runs a turn to the response that streams it."""

import asyncio
from collections.abc import AsyncIterator

from services.chat_api.domain.turn_events import TurnEvent

_CAPACITY = 256
_LONGEST_WAIT_SECONDS = 30.0


class TurnChannel:
    """Bounded, so that a slow reader slows the turn down. Once the reader has left, or reads nothing for 30 s, events
    go nowhere and the turn goes on without it."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue(_CAPACITY)
        self._left = False

    async def send(self, event: TurnEvent) -> None:
        await self._put(event)

    async def end(self) -> None:
        await self._put(None)

    async def events(self) -> AsyncIterator[TurnEvent]:
        while (event := await self._queue.get()) is not None:
            yield event

    def leave(self) -> None:
        """The reader is gone. A writer that waits for room goes on."""
        self._left = True
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)

    async def _put(self, event: TurnEvent | None) -> None:
        if self._left:
            return
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            await self._wait_for_room(event)

    async def _wait_for_room(self, event: TurnEvent | None) -> None:
        try:
            async with asyncio.timeout(_LONGEST_WAIT_SECONDS):
                await self._queue.put(event)
        except TimeoutError:
            self.leave()
