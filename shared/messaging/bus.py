"""The front's connection to NATS. It comes and goes without anybody waiting for it."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from shared.messaging.provisioning import ensure_streams

logger = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0


class BusUnavailableError(Exception):
    """NATS cannot be reached now. Events wait in the outbox."""


async def _log_error(fault: Exception) -> None:
    # The library's own callback prints a traceback each time, and one that raises would end its reconnect task.
    logger.warning("bus_error", extra={"error": type(fault).__name__})


async def connect_nats(url: str, *, name: str) -> Client:
    """Connect, and keep reconnecting for as long as the client lives."""
    return await nats.connect(
        url,
        name=name,
        connect_timeout=2,
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.5,
        ping_interval=10,
        max_outstanding_pings=2,
        error_cb=_log_error,
    )


class Bus:
    """Holds one connection, opened in the background and opened anew when it is closed for good."""

    def __init__(self, url: str, *, name: str) -> None:
        self._url = url
        self._name = name
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._listeners: list[tuple[str, Callable[[bytes], Awaitable[None]]]] = []

    def listen(self, subject: str, handle: Callable[[bytes], Awaitable[None]]) -> None:
        """Call `handle` with the body of everything published on `subject` from now on. Register before `start`."""
        self._listeners.append((subject, handle))

    def start(self) -> None:
        self._task = asyncio.create_task(self._stay_connected(), name="bus")

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._client:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(2):
                    await self._client.close()

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    @property
    def jetstream(self) -> JetStreamContext:
        """Raises BusUnavailableError while there is no connection."""
        if self._client is None or not self._client.is_connected:
            raise BusUnavailableError
        return self._client.jetstream(timeout=2)

    async def _stay_connected(self) -> None:
        while True:
            try:
                if self._client is None or self._client.is_closed:
                    await self._open()
            except Exception as fault:  # noqa: BLE001 (whatever the broker does, the front goes on)
                logger.warning("bus_not_connected", extra={"error": type(fault).__name__})
            await asyncio.sleep(_RETRY_SECONDS)

    async def _open(self) -> None:
        client = await connect_nats(self._url, name=self._name)
        self._client = client
        for subject, handle in self._listeners:
            await client.subscribe(subject, cb=_guarded(handle))
        await ensure_streams(client.jetstream(timeout=2))
        logger.info("bus_connected")


def _guarded(handle: Callable[[bytes], Awaitable[None]]) -> Callable[[Msg], Awaitable[None]]:
    async def on_message(message: Msg) -> None:
        try:
            await handle(message.data)
        except Exception:
            logger.exception("bus_listener_failed", extra={"subject": message.subject})

    return on_message
